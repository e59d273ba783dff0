<?php
// Fills phpBB with what content.json holds: php phpbb.php ROOT URL CONTENT
[, $root, $url, $content] = $argv;
chdir($root);
error_reporting(E_ERROR);
$host = parse_url($url, PHP_URL_HOST);
$_SERVER = array_merge($_SERVER, ['REMOTE_ADDR' => '127.0.0.1', 'HTTP_HOST' => $host,
    'SERVER_NAME' => $host, 'REQUEST_URI' => '/', 'SCRIPT_NAME' => '/index.php',
    'PHP_SELF' => '/index.php', 'QUERY_STRING' => '', 'HTTP_USER_AGENT' => 'none']);
define('IN_PHPBB', true);
$phpbb_root_path = './';
$phpEx = 'php';
require './common.php';
foreach (['functions_acp', 'functions_admin', 'functions_posting', 'functions_user'] as $name) {
    require_once "./includes/$name.php";
}
require_once './includes/acp/acp_forums.php';
$user->session_begin();
$auth->acl($user->data);
$user->setup();
$data = json_decode(file_get_contents($content), true);
$people = [];
foreach ($data['people'] as $name) {
    $people[] = user_add(['username' => $name, 'user_password' => 'none', 'group_id' => 2,
        'user_email' => "$name@example.org", 'user_type' => USER_NORMAL]);
}
$result = $db->sql_query('SELECT * FROM ' . FORUMS_TABLE . ' WHERE forum_type = ' . FORUM_POST);
$template = $db->sql_fetchrow($result);
// What the form has, and the table keeps as bits of one number.
$flags = ['prune_old_polls', 'prune_announce', 'prune_sticky', 'show_active', 'enable_post_review',
    'enable_quick_reply', 'forum_link_track', 'forum_password_confirm', 'forum_password_unset'];
$forums = [];
foreach ($data['forums'] as $forum) {
    $named = ['forum_name' => $forum['name'], 'forum_desc' => $forum['about']];
    $row = array_merge($template, array_fill_keys($flags, false), ['type_action' => ''], $named);
    unset($row['forum_id']);
    $form = new acp_forums();
    if ($errors = $form->update_forum_data($row)) {
        echo implode("\n", $errors);
        exit(1);
    }
    copy_forum_permissions($template['forum_id'], $row['forum_id'], false);
    $forums[] = $row['forum_id'];
}
// What a visitor may see was kept for him before.
$auth->acl_clear_prefetch();
foreach ($data['topics'] as $topic) {
    $tid = 0;
    foreach ($topic['posts'] as $post) {
        $result = $db->sql_query('SELECT * FROM ' . USERS_TABLE
            . ' WHERE user_id = ' . $people[$post['by']]);
        $user->data = array_merge($user->data, $db->sql_fetchrow($result));
        $user->data['is_registered'] = true;
        $text = $post['text'];
        $uid = $bitfield = '';
        $options = 0;
        generate_text_for_storage($text, $uid, $bitfield, $options, true, true, true);
        $title = ($tid ? 'Re: ' : '') . $topic['title'];
        $row = ['forum_id' => $forums[$topic['forum']], 'topic_id' => $tid, 'icon_id' => false,
            'enable_bbcode' => true, 'enable_smilies' => true, 'enable_urls' => true,
            'enable_sig' => true, 'enable_indexing' => true, 'message' => $text,
            'message_md5' => md5($text), 'bbcode_bitfield' => $bitfield, 'bbcode_uid' => $uid,
            'post_edit_locked' => 0, 'topic_title' => $topic['title'], 'notify_set' => false,
            'notify' => false, 'post_time' => $post['time'], 'forum_name' => '',
            'force_approved_state' => ITEM_APPROVED];
        $poll = [];
        submit_post($tid ? 'reply' : 'post', $title, $user->data['username'], POST_NORMAL,
            $poll, $row);
        $tid = $row['topic_id'];
    }
}
