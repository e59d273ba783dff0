<?php
// What PHP had when PunBB was written.
define('MB_OVERLOAD_STRING', 2);
function get_magic_quotes_gpc() { return 0; }
function get_magic_quotes_runtime() { return 0; }
