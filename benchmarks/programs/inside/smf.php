<?php
// Fills SMF with what content.json holds: php smf.php ROOT URL CONTENT
[, $root, $url, $content] = $argv;
$_SERVER['HTTP_HOST'] = parse_url($url, PHP_URL_HOST);
$_SERVER['SERVER_NAME'] = '127.0.0.1';
$_SERVER['SERVER_PORT'] = parse_url($url, PHP_URL_PORT);
$_SERVER['REMOTE_ADDR'] = '127.0.0.1';
$_SERVER['REQUEST_URI'] = '/SSI.php';
$_SERVER['HTTP_USER_AGENT'] = 'filling';
$_SERVER['SERVER_SOFTWARE'] = 'none';
$ssi_guest_access = true;
require "$root/SSI.php";
require_once "$sourcedir/Subs-Boards.php";
require_once "$sourcedir/Subs-Post.php";
require_once "$sourcedir/Subs-Members.php";
$user_info['permissions'] = [];
$user_info['is_admin'] = true;
$user_info['ip2'] = '127.0.0.1';
$user_info['query_see_board'] = '1=1';
$modSettings['mail_queue'] = 0;
$modSettings['postmod_active'] = 0;
updateSettings(['disableHostnameLookup' => 1, 'defaultMaxMessages' => 10, 'defaultMaxTopics' => 12, 'send_welcomeEmail' => 0]);
$data = json_decode(file_get_contents($content), true);
$people = [];
foreach ($data['people'] as $name) {
    $options = ['interface' => 'ssi', 'username' => $name, 'email' => "$name@example.org",
        'password' => 'a-long-Password-1', 'password_check' => 'a-long-Password-1',
        'check_reserved_name' => false, 'check_password_strength' => false,
        'check_email_ban' => false, 'send_welcome_email' => false, 'require' => 'nothing'];
    $people[] = registerMember($options);
}
$places = [];
foreach ($data['forums'] as $forum) {
    $places[] = createBoard(['board_name' => $forum['name'], 'board_description' => $forum['about'],
        'target_category' => 1, 'move_to' => 'bottom', 'access_groups' => [-1, 0],
        'inherit_permissions' => true, 'posts_count' => true, 'profile' => 1]);
}
foreach ($data['topics'] as $topic) {
    $in = ['id' => 0, 'board' => $places[$topic['forum']], 'mark_as_read' => false];
    foreach ($topic['posts'] as $number => $post) {
        $message = ['subject' => ($number ? 'Re: ' : '') . $topic['title'], 'body' => $post['text'],
            'poster_time' => $post['time'], 'send_notifications' => false, 'smileys_enabled' => true];
        $by = ['id' => $people[$post['by']], 'update_post_count' => true, 'ip' => '127.0.0.1'];
        createPost($message, $in, $by);
    }
}
