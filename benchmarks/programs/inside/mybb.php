<?php
// Fills MyBB with what content.json holds: php mybb.php ROOT URL CONTENT
[, $root, $url, $content] = $argv;
chdir($root);
$_SERVER['REMOTE_ADDR'] = '127.0.0.1';
$_SERVER['REQUEST_METHOD'] = 'GET';
define('IN_MYBB', 1);
define('THIS_SCRIPT', 'index.php');
define('NO_ONLINE', 1);
require './global.php';
require_once MYBB_ROOT . 'inc/datahandlers/post.php';
require_once MYBB_ROOT . 'inc/datahandlers/user.php';
require_once MYBB_ROOT . 'inc/functions_rebuild.php';
$data = json_decode(file_get_contents($content), true);
$db->update_query('settings', ['value' => '10'], "name='postsperpage'");
$db->update_query('settings', ['value' => '12'], "name='threadsperpage'");
rebuild_settings();
foreach (['floodcheck', 'postfloodcheck', 'postmergemins', 'maxposts'] as $name) {
    $mybb->settings[$name] = 0;
}
$people = [];
foreach ($data['people'] as $name) {
    $handler = new UserDataHandler('insert');
    $handler->set_data(['username' => $name, 'password' => 'a-long-Password-1',
        'password2' => 'a-long-Password-1', 'email' => "$name@example.org",
        'email2' => "$name@example.org", 'usergroup' => 2, 'regip' => '127.0.0.1',
        'profile_fields' => [], 'registration' => true, 'options' => []]);
    if (!$handler->validate_user()) {
        die(print_r($handler->get_friendly_errors(), true));
    }
    $people[] = $handler->insert_user()['uid'];
}
$template = $db->fetch_array($db->simple_select('forums', '*', "type='f'", ['limit' => 1]));
$forums = [];
foreach ($data['forums'] as $number => $forum) {
    if ($number) {
        $row = array_filter($template, 'is_string', ARRAY_FILTER_USE_KEY);
        $row = array_map(fn($value) => $db->escape_string((string)$value), $row);
        unset($row['fid']);
        $row['name'] = $forum['name'];
        $row['description'] = $forum['about'];
        $row['disporder'] = $number + 1;
        $fid = $db->insert_query('forums', $row);
        $db->update_query('forums', ['parentlist' => "{$template['pid']},$fid"], "fid='$fid'");
        $forums[] = $fid;
    } else {
        $forums[] = $template['fid'];
    }
}
$cache->update_forums();
$cache->update_forumpermissions();
foreach ($data['topics'] as $topic) {
    $tid = 0;
    foreach ($topic['posts'] as $post) {
        $handler = new PostDataHandler('insert');
        $handler->action = $tid ? 'post' : 'thread';
        $handler->set_data(['tid' => $tid, 'fid' => $forums[$topic['forum']], 'icon' => 0,
            'subject' => ($tid ? 'RE: ' : '') . $topic['title'], 'uid' => $people[$post['by']],
            'username' => $data['people'][$post['by']], 'message' => $post['text'],
            'dateline' => $post['time'], 'ipaddress' => '127.0.0.1', 'savedraft' => 0,
            'options' => ['signature' => 0, 'subscriptionmethod' => '', 'disablesmilies' => 0]]);
        if (!($tid ? $handler->validate_post() : $handler->validate_thread())) {
            die(print_r($handler->get_friendly_errors(), true));
        }
        $done = $tid ? $handler->insert_post() : $handler->insert_thread();
        $tid = $tid ?: $done['tid'];
    }
    rebuild_thread_counters($tid);
    update_last_post($tid);
}
foreach ($forums as $fid) {
    rebuild_forum_counters($fid);
    update_forum_lastpost($fid);
}
$cache->update_stats();
