<?php
// Fills MantisBT: the folder of its files, and a file with what it gets.
[, $root, $file] = $argv;
error_reporting(E_ERROR);
$_SERVER['REQUEST_URI'] = '/';
$_SERVER['SCRIPT_NAME'] = '/index.php';
chdir($root);
require 'core.php';
foreach (['bug', 'bugnote', 'category', 'project', 'tag', 'user', 'version'] as $name) {
    require_api("{$name}_api.php");
}
auth_attempt_script_login('administrator', 'root');
$given = json_decode(file_get_contents($file), true);
user_create('guest', 'a-long-Password-1', 'guest@example.org', VIEWER, false, true);
$people = [];
foreach ($given['people'] as $name) {
    user_create($name, 'a-long-Password-1', "$name@example.org", DEVELOPER, false, true);
    $people[] = user_get_id_by_name($name);
}
foreach ($given['projects'] as $project) {
    $number = project_create($project['name'], $project['text'], 50);
    foreach ($project['categories'] as $name) {
        category_add($number, $name);
    }
    foreach ($project['versions'] as $place => $name) {
        version_add($number, $name, $place < 3 ? VERSION_RELEASED : VERSION_FUTURE, $name);
    }
    $categories = array_column(category_get_all_rows($number), 'id');
    foreach ($project['issues'] as $place => $issue) {
        $bug = new BugData;
        $bug->project_id = $number;
        $bug->reporter_id = $people[$issue['by']];
        $bug->handler_id = $people[$issue['to']];
        $bug->summary = $issue['title'];
        $bug->description = $issue['text'];
        $bug->status = $issue['status'];
        $bug->resolution = $issue['status'] >= RESOLVED ? FIXED : OPEN;
        $bug->category_id = $categories[$place % count($categories)];
        $bug->version = $project['versions'][0];
        $bug->fixed_in_version = $issue['status'] >= RESOLVED ? $project['versions'][1] : '';
        $bug->target_version = $project['versions'][3];
        $created = $bug->create();
        foreach ($issue['notes'] as $by => $text) {
            bugnote_add($created, $text, '0:00', false, BUGNOTE, '', $people[$by], false);
        }
        $tag = tag_get_by_name($issue['tag']);
        tag_bug_attach($tag ? $tag['id'] : tag_create($issue['tag']), $created);
    }
}
