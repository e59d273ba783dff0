<?php
// Serves Discuz! X by the addresses that it has a server rewrite.
$rules = ['thread-(\d+)-(\d+)-(\d+)' => 'mod=viewthread&tid=$1&extra=page%3D$3&page=$2',
    'forum-(\w+)-(\d+)' => 'mod=forumdisplay&fid=$1&page=$2'];
$path = parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH);
foreach ($rules as $from => $to) {
    if (preg_match("#^/$from\\.html$#", $path)) {
        $_SERVER['QUERY_STRING'] = preg_replace("#^/$from\\.html$#", $to, $path);
        parse_str($_SERVER['QUERY_STRING'], $_GET);
        $_SERVER['SCRIPT_NAME'] = $_SERVER['PHP_SELF'] = '/forum.php';
        $_SERVER['SCRIPT_FILENAME'] = $_SERVER['DOCUMENT_ROOT'] . '/forum.php';
        chdir($_SERVER['DOCUMENT_ROOT']);
        require './forum.php';
        return true;
    }
}
return false;
