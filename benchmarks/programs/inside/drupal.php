<?php
// Installs Drupal 7 and fills it with what content.json holds: php drupal.php ROOT URL [CONTENT]
[, $root, $url] = $argv;
chdir($root);
error_reporting(E_ERROR);
$host = parse_url($url, PHP_URL_HOST) . ':' . parse_url($url, PHP_URL_PORT);
$_SERVER = array_merge($_SERVER, ['REMOTE_ADDR' => '127.0.0.1', 'HTTP_HOST' => $host,
    'SERVER_SOFTWARE' => 'none', 'REQUEST_METHOD' => 'GET', 'REQUEST_URI' => '/',
    'SCRIPT_NAME' => '/index.php', 'PHP_SELF' => '/index.php', 'QUERY_STRING' => '']);
define('DRUPAL_ROOT', $root);
if (!isset($argv[3])) {
    define('MAINTENANCE_MODE', 'install');
    require_once 'includes/install.core.inc';
    $password = ['pass1' => 'a-long-Password-1', 'pass2' => 'a-long-Password-1'];
    $mail = 'keeper@example.org';
    $sent = ['op' => 'Save and continue'];
    install_drupal(['parameters' => ['profile' => 'standard', 'locale' => 'en'], 'forms' => [
        'install_settings_form' => ['driver' => 'sqlite',
            'sqlite' => ['database' => 'sites/default/site.sqlite', 'db_prefix' => '']] + $sent,
        'install_configure_form' => ['site_name' => 'Example', 'site_mail' => $mail,
            'account' => ['name' => 'keeper', 'mail' => $mail, 'pass' => $password],
            'update_status_module' => [1 => false, 2 => false], 'clean_url' => false,
            'site_default_country' => '', 'date_default_timezone' => 'UTC'] + $sent,
    ]]);
    exit;
}
require_once 'includes/bootstrap.inc';
drupal_bootstrap(DRUPAL_BOOTSTRAP_FULL);
$data = json_decode(file_get_contents($argv[3]), true);
module_enable(['blog', 'contact', 'forum', 'poll', 'statistics', 'tracker']);
foreach ([DRUPAL_ANONYMOUS_RID, DRUPAL_AUTHENTICATED_RID] as $role) {
    user_role_grant_permissions($role, ['access content', 'access comments',
        'access user profiles', 'search content', 'access site-wide contact form']);
}
user_role_grant_permissions(DRUPAL_AUTHENTICATED_RID, ['post comments', 'skip comment approval']);
$people = [];
foreach ($data['people'] as $name) {
    $people[] = user_save(null, ['name' => $name, 'mail' => "$name@example.org", 'status' => 1,
        'pass' => 'none'])->uid;
}
function terms($vocabulary, $names) {
    $terms = [];
    foreach ($names as $name) {
        $term = (object)['vid' => $vocabulary, 'name' => $name, 'parent' => [0]];
        taxonomy_term_save($term);
        $terms[$name] = $term->tid;
    }
    return $terms;
}
$tags = terms(1, array_unique(array_merge(...array_column($data['posts'], 'tags'))));
$forums = array_values(terms(variable_get('forum_nav_vocabulary'), $data['categories']));
foreach ($data['posts'] as $number => $post) {
    $type = $post['type'] == 'page' ? 'page' : ['article', 'forum', 'article', 'blog'][$number % 4];
    $node = (object)['type' => $type, 'language' => LANGUAGE_NONE, 'title' => $post['title'],
        'uid' => $people[$number % count($people)], 'created' => strtotime($post['time'])];
    node_object_prepare($node);
    $node->promote = (int)($type == 'article');
    $node->comment = $type == 'page' ? 1 : 2;
    $node->body[LANGUAGE_NONE][0] = ['value' => $post['text'], 'format' => 'filtered_html'];
    if ($type == 'article') {
        foreach ($post['tags'] as $tag) {
            $node->field_tags[LANGUAGE_NONE][] = ['tid' => $tags[$tag]];
        }
    } elseif ($type == 'forum') {
        $node->taxonomy_forums[LANGUAGE_NONE][0]['tid'] = $forums[$number % count($forums)];
    }
    node_save($node);
    foreach ($type == 'page' ? [] : $post['comments'] as $comment) {
        $answer = (object)['nid' => $node->nid, 'cid' => 0, 'pid' => 0, 'uid' => 0, 'mail' => '',
            'homepage' => '', 'is_anonymous' => 1, 'name' => $comment['author'], 'status' => 1,
            'subject' => '', 'language' => LANGUAGE_NONE, 'hostname' => '127.0.0.1',
            'created' => strtotime($comment['time'])];
        $answer->comment_body[LANGUAGE_NONE][0] = ['value' => $comment['text'],
            'format' => 'filtered_html'];
        comment_submit($answer);
        comment_save($answer);
    }
}
