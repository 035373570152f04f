// Shopping carts, kept in memory.
import { priceOf } from "./prices.js";
import Store from "./store.js";

const LIMIT = 50;

/**
 * A cart with its lines.
 */
export class Cart extends Store {
  #lines = [];

  constructor(owner) {
    super(owner);
    this.owner = owner;
  }

  /** Put an article in. */
  add(article, count = 1) {
    if (this.#lines.length >= LIMIT) {
      throw new RangeError("the cart is full");
    }
    this.#lines.push({ article, count });
  }

  total = () => {
    return this.#lines.reduce((sum, line) => sum + priceOf(line.article) * line.count, 0);
  };

  static empty(owner) {
    return new Cart(owner);
  }
}

/** Carts of one person, newest first. */
export const cartsOf = async (person) => {
  const carts = await Store.load(person);
  return carts.sort(byAge);
};

function byAge(a, b) {
  return b.created - a.created;
}

export const discounts = {
  summer: 0.1,

  // Nobody gets more than half off.
  apply(total, share) {
    return total * (1 - Math.min(share, 0.5));
  },

  reset: function () {
    this.summer = 0;
  },
};

Cart.prototype.describe = function () {
  return `${this.owner}: ${this.total()}`;
};
