import React from "react";
import { Cart, cartsOf } from "./cart";

function Row({ line }) {
  return <li>{line.article}</li>;
}

export default function ({ person }) {
  const carts = cartsOf(person);
  return (
    <ul>
      {carts.map((cart) => (
        <Row key={cart.id} line={cart.first} />
      ))}
    </ul>
  );
}
