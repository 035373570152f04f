import { EventEmitter } from "node:events";
import type { Options } from "./options";

export type Key = string | number;

/** What can be kept. */
export interface Entry<T> {
  key: Key;
  value: T;
  touch(now: Date): void;
}

export enum Policy {
  Oldest,
  Rarest,
}

export abstract class Cache<T> extends EventEmitter {
  private entries: Map<Key, Entry<T>> = new Map();

  constructor(private readonly options: Options) {
    super();
  }

  abstract weigh(entry: Entry<T>): number;

  // Evicts first, so that a full cache never grows.
  @logged
  put(entry: Entry<T>): void {
    this.evict(Policy.Oldest);
    this.entries.set(entry.key, entry);
  }

  protected evict = (policy: Policy): void => {
    if (this.entries.size > this.options.limit) {
      this.emit("evict", policy);
    }
  };
}

function logged(target: unknown, name: string): void {
  console.log(name);
}

export namespace Sizes {
  export const small = 16;

  export function round(size: number): number {
    return Math.ceil(size / small) * small;
  }
}

export function find(key: string): Key;
export function find(key: number): Key;
export function find(key: Key): Key {
  return key;
}
