"use strict";

(function (root) {
  const PRICES = { tea: 3, bread: 4 };

  function priceOf(article) {
    return PRICES[article] ?? 0;
  }

  root.priceOf = priceOf;
})(module.exports);

exports.format = function (amount) {
  return amount.toFixed(2);
};
