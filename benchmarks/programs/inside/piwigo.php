<?php
// Fills Piwigo with what content.json holds: php piwigo.php ROOT URL CONTENT
[, $root, $url, $content] = $argv;
chdir($root);
error_reporting(E_ERROR);
// To any other script it would show that there is no photo yet. At its own address it asks for each
// photo in a smaller size.
$_SERVER = ['SCRIPT_NAME' => '/ws.php', 'REQUEST_URI' => '/ws.php', 'REQUEST_METHOD' => 'GET',
    'HTTP_HOST' => substr($url, 7), 'REMOTE_ADDR' => '127.0.0.1'] + $_SERVER;
define('PHPWG_ROOT_PATH', './');
require './include/common.inc.php';
require_once './admin/include/functions.php';
require_once './admin/include/functions_upload.inc.php';
$data = json_decode(file_get_contents($content), true);
conf_update_param('activate_comments', 'true');
conf_update_param('comments_forall', 'true');
$albums = [];
foreach ($data['albums'] as $number => $album) {
    // Every second one stands in the one before it.
    $made = create_virtual_category($album['name'], $number % 2 ? end($albums) : null,
        ['comment' => $album['about'], 'commentable' => true]);
    $albums[] = $made['id'];
}
foreach ($data['photos'] as $number => $photo) {
    $file = sys_get_temp_dir() . "/photo-$number.jpg";
    $image = imagecreatetruecolor(120, 80);
    imagefill($image, 0, 0, imagecolorallocate($image, 5 * $number, 255 - 5 * $number, 99));
    imagejpeg($image, $file);
    $id = add_uploaded_file($file, "photo-$number.jpg",
        array_map(fn($album) => $albums[$album], $photo['albums']));
    single_update(IMAGES_TABLE, ['name' => $photo['name'], 'comment' => $photo['about'],
        'author' => $photo['author'], 'date_creation' => date('Y-m-d', $photo['time']),
        'date_available' => date('Y-m-d', $photo['time'] + 86400 * 40)], ['id' => $id]);
    set_tags(array_map('tag_id_from_tag_name', $photo['tags']), $id);
    foreach ($photo['comments'] as $comment) {
        single_insert(COMMENTS_TABLE, ['image_id' => $id, 'author' => $comment['by'],
            'content' => $comment['text'], 'date' => date('Y-m-d', $photo['time'] + 86400 * 50),
            'validated' => 'true', 'anonymous_id' => '127.0.0.1']);
    }
}
invalidate_user_cache();
