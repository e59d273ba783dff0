<?php
// Fills Question2Answer with what content.json holds: php question2answer.php ROOT URL CONTENT
[, $root, $url, $content] = $argv;
chdir($root);
error_reporting(E_ERROR);
$_SERVER = ['SCRIPT_NAME' => '/index.php', 'PHP_SELF' => '/index.php', 'REQUEST_URI' => '/',
    'REQUEST_METHOD' => 'GET', 'HTTP_HOST' => substr($url, 7), 'REMOTE_ADDR' => '127.0.0.1'] + $_SERVER;
require './qa-include/qa-base.php';
foreach (['events', 'users', 'users-edit', 'posts', 'options', 'recalc'] as $name) {
    require_once QA_INCLUDE_DIR . "app/$name.php";
}
require_once QA_INCLUDE_DIR . 'db/admin.php';
qa_suspend_event_reports(true);
$data = json_decode(file_get_contents($content), true);
// Some answers are on a second page, and some comments hidden until they are asked for.
foreach (['neat_urls' => 1, 'site_url' => "$url/", 'site_title' => 'Example', 'tags_or_categories' => 'tc',
    'page_size_qs' => 12, 'page_size_q_as' => 6, 'show_fewer_cs_from' => 4, 'show_fewer_cs_count' => 3,
    'comment_on_qs' => 1] as $name => $value) {
    qa_set_option($name, $value);
}
foreach (['activity', 'hot', 'categories'] as $page) {
    qa_set_option("nav_$page", 1);
}
$people = [];
foreach ($data['people'] as $number => $name) {
    $people[] = qa_create_new_user("$name@example.org", 'Not-A-Secret-1', $name,
        $number ? QA_USER_LEVEL_BASIC : QA_USER_LEVEL_SUPER, true);
}
$categories = [];
foreach ($data['forums'] as $number => $forum) {
    $categories[] = qa_db_category_create(null, $forum['name'], "about$number");
}
foreach ($data['topics'] as $topic) {
    $first = array_shift($topic['posts']);
    $tags = explode(' ', strtolower($topic['title']), 3);
    $question = create('Q', null, $first, $topic['title'], $categories[$topic['forum']], array_slice($tags, 0, 2));
    $answer = null;
    foreach ($topic['posts'] as $number => $post) {
        // After each answer come comments on it, of the last one none.
        if ($number % 5 == 0 || $number % 7 == 0) {
            $answer = create('A', $question, $post);
        } else {
            create('C', $answer, $post);
        }
    }
}
foreach (['dorecountposts', 'dorecalccategories', 'dorecalcpoints', 'doreindexposts'] as $state) {
    while (qa_recalc_perform_step($state));
}

function create($kind, $parent, $post, $title = '', $category = null, $tags = null)
{
    global $people;
    $id = qa_post_create($kind, $parent, $title, $post['text'], '', $category, $tags, $people[$post['by']]);
    qa_db_query_sub('UPDATE ^posts SET created=FROM_UNIXTIME(#) WHERE postid=#', $post['time'], $id);
    return $id;
}
