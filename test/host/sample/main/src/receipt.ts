import { menu } from './menu.ts';
import { type Order, total } from './order.ts';

export function receipt(order: Order): string {
  return [
    `Order ${order.number}, ${place(order)}`,
    ...order.lines.map((line) => `${line.count} × ${line.item}  ${euros(menu[line.item] * line.count)}`),
    `Total  ${euros(total(order))}`,
  ].join('\n');
}

// The deliberate type error: an order at the counter has no table.
function place(order: Order): string {
  return `table ${order.table.toFixed()}`;
}

export function euros(cents: number): string {
  return `${(cents / 100).toFixed(2)} €`;
}
