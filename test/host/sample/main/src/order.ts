import { type Item, menu } from './menu.ts';

export interface Line {
  item: Item;
  count: number;
}

export interface Order {
  number: number;
  /** Missing when the tea is drunk at the counter. */
  table?: number;
  lines: Line[];
}

/** In cents. */
export function total(order: Order): number {
  return order.lines.reduce((sum, line) => sum + menu[line.item] * line.count, 0);
}
