import { useState } from "react";
import { Cache, Policy } from "./store";
import { Button } from "./button";

interface Props {
  cache: Cache<string>;
}

/** Shows how full a cache is. */
export const Panel = ({ cache }: Props): JSX.Element => {
  const [open, setOpen] = useState(false);
  return <Button onClick={() => setOpen(!open)}>{String(Policy.Oldest)}</Button>;
};
