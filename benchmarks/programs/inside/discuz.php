<?php
// Fills Discuz! X with what content.json holds: php discuz.php ROOT URL CONTENT
[, $root, $url, $content] = $argv;
chdir($root);
error_reporting(E_ERROR);
define('APPTYPEID', 0);
define('CURSCRIPT', 'forum');
$_SERVER = ['SCRIPT_NAME' => '/forum.php', 'PHP_SELF' => '/forum.php', 'REQUEST_URI' => '/',
    'REQUEST_METHOD' => 'GET', 'HTTP_HOST' => substr($url, 7), 'REMOTE_ADDR' => '127.0.0.1',
    'HTTP_USER_AGENT' => 'filler'] + $_SERVER;
// It forgets all variables.
define('CONTENT', file_get_contents($content));
require './source/class/class_core.php';
$app = C::app();
foreach (['cron', 'setting', 'user', 'session', 'misc'] as $part) {
    $app->{"init_$part"} = false;
}
$app->init();
$data = json_decode(CONTENT, true);
foreach ($data['people'] as $number => $name) {
    $uid = $number + 10;
    DB::insert('common_member', ['uid' => $uid, 'username' => $name, 'password' => 'x', 'groupid' => 10,
        'email' => "$name@example.org", 'regdate' => 1600000000, 'credits' => $uid]);
    foreach (['count', 'status', 'field_forum', 'field_home', 'profile'] as $table) {
        DB::insert("common_member_$table", ['uid' => $uid]);
    }
}
$like = DB::fetch_first('select * from ' . DB::table('forum_forum') . ' where fid = 2');
$counts = [];
foreach ($data['forums'] as $number => $forum) {
    $fid = $number + 2;
    $counts[$fid] = [0, 0, ''];
    DB::insert('forum_forum', ['fid' => $fid, 'name' => $forum['name']] + $like, false, true);
    DB::insert('forum_forumfield', ['fid' => $fid, 'description' => $forum['about']], false, true);
}
$pid = 0;
foreach ($data['topics'] as $number => $topic) {
    [$tid, $fid, $title] = [$number + 1, $topic['forum'] + 2, $topic['title']];
    foreach ($topic['posts'] as $place => $post) {
        $author = ['author' => $data['people'][$post['by']], 'authorid' => $post['by'] + 10];
        DB::insert('forum_post', ['pid' => ++$pid, 'fid' => $fid, 'tid' => $tid, 'first' => (int) !$place,
            'subject' => $place ? '' : $title, 'dateline' => $post['time'], 'message' => $post['text'],
            'premsg' => '', 'useip' => '127.0.0.1', 'position' => $place + 1] + $author);
    }
    [$first, $count] = [$topic['posts'][0], count($topic['posts'])];
    DB::insert('forum_thread', ['tid' => $tid, 'fid' => $fid, 'subject' => $title, 'stamp' => -1, 'icon' => -1,
        'author' => $data['people'][$first['by']], 'authorid' => $first['by'] + 10, 'dateline' => $first['time'],
        'lastpost' => $post['time'], 'lastposter' => $author['author'], 'replies' => $count - 1,
        'maxposition' => $count, 'relatebytag' => '0']);
    $counts[$fid] = [$counts[$fid][0] + 1, $counts[$fid][1] + $count,
        "$tid\t$title\t{$post['time']}\t{$author['author']}"];
}
foreach ($counts as $fid => [$threads, $posts, $last]) {
    DB::update('forum_forum', ['threads' => $threads, 'posts' => $posts, 'lastpost' => $last], ['fid' => $fid]);
}
if (getenv('LIKE_FILES')) {
    $rules = ['forum_viewthread' => 'thread-{tid}-{page}-{prevpage}.html',
        'forum_forumdisplay' => 'forum-{fid}-{page}.html'];
    C::t('common_setting')->update_batch(['rewritestatus' => array_keys($rules), 'rewriterule' => $rules]);
}
// Searches for these have a token in them, another one on each page for a visitor without cookies.
C::t('common_setting')->update_batch(['srchhotkeywords' => '']);
require_once libfile('function/cache');
updatecache();
