<?php

declare(strict_types=1);

namespace App\Models;

use App\Base\Model;
use App\Contracts\{Mailable, Nameable as HasName};

/**
 * Someone who can log in.
 */
#[Entity(table: 'users')]
final class User extends Model implements Mailable
{
    use Timestamps;

    public const ROLES = ['admin', 'guest'];

    public function __construct(private string $name, private ?Role $role = null)
    {
    }

    /** Send a message. */
    public function mail(Message $message): bool
    {
        $mailer = new Mailer($this->name);
        $mailer->send($message);
        return self::log(format_name($this->name));
    }

    private static function log(string $line): bool
    {
        return Logger::write($line);
    }
}

interface Mailable
{
    public function mail(Message $message): bool;
}

trait Timestamps
{
    protected function touch(): void
    {
        $this->updated = time();
    }
}

enum Role: string
{
    case Admin = 'admin';
}

// Names are shown in capitals.
function format_name(string $name): string
{
    return strtoupper($name);
}
