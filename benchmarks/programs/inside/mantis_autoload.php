<?php
// What Debian has of the libraries that MantisBT asks Composer for.
foreach (['GuzzleHttp', 'libphp-phpmailer', 'Slim'] as $library) {
    @include_once "/usr/share/php/$library/autoload.php";
}
require_once '/usr/share/php/Parsedown/Parsedown.php';
require_once '/usr/share/php/adodb/adodb.inc.php';
spl_autoload_register(function ($class) {
    if (strpos($class, 'Mantis\\') === 0) {
        include_once __DIR__ . '/../' . strtr(substr($class, 7), '\\', '/') . '.php';
    }
});
eval('namespace VBoctor\Email;
class DisposableEmailChecker { static function is_disposable_email($address) { return false; } }');
