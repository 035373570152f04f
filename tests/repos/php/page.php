<html>
<body>
<?php
require 'User.php';

function title(): string
{
    return 'Users';
}
?>
<h1><?= title() ?></h1>
</body>
</html>
