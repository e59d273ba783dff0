<?php
// Installs WordPress and fills it with what content.json holds: php wordpress.php ROOT URL CONTENT
[, $root, $url, $content] = $argv;
$parts = parse_url($url);
$_SERVER['HTTP_HOST'] = "{$parts['host']}:{$parts['port']}";
$_SERVER['SERVER_NAME'] = $parts['host'];
$_SERVER['REQUEST_METHOD'] = 'GET';
$_SERVER['REQUEST_URI'] = '/';
$_SERVER['SERVER_PROTOCOL'] = 'HTTP/1.1';
define('WP_INSTALLING', true);
define('WP_SITEURL', $url);
function wp_mail() { return true; }
require "$root/wp-load.php";
require_once "$root/wp-admin/includes/upgrade.php";
wp_install('Example Blog', 'keeper', 'keeper@example.org', true, '', 'a-long-Password-1');
update_option('home', $url);
update_option('siteurl', $url);
update_option('permalink_structure', '/%year%/%monthnum%/%postname%/');
update_option('thread_comments', 1);
update_option('posts_per_page', 8);
update_option('page_comments', 1);
update_option('comments_per_page', 10);
$data = json_decode(file_get_contents($content), true);
$terms = [];
foreach ($data['categories'] as $name) {
    $terms[$name] = wp_insert_term($name, 'category')['term_id'];
}
$authors = [1];
foreach ($data['people'] as $name) {
    $authors[] = wp_insert_user(['user_login' => strtolower($name), 'user_pass' => 'secret',
        'display_name' => $name, 'role' => 'author']);
}
foreach ($data['posts'] as $number => $post) {
    $id = wp_insert_post(['post_title' => $post['title'], 'post_content' => $post['text'],
        'post_status' => 'publish', 'post_type' => $post['type'], 'post_date' => $post['time'],
        'post_author' => $authors[$number % count($authors)],
        'post_category' => array_map(fn($name) => $terms[$name], $post['categories']),
        'tags_input' => $post['tags']]);
    $earlier = [0];
    foreach ($post['comments'] as $comment) {
        $earlier[] = wp_insert_comment(['comment_post_ID' => $id,
            'comment_author' => $comment['author'], 'comment_content' => $comment['text'],
            'comment_date' => $comment['time'], 'comment_approved' => 1,
            'comment_parent' => $earlier[$comment['answers'] % count($earlier)]]);
    }
}
global $wp_rewrite;
$wp_rewrite->init();
flush_rewrite_rules(false);
