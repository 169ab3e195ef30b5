import { menu } from './menu.ts';
import { type Order, total } from './order.ts';

export function receipt(order: Order): string {
  return [
    `Order ${order.number}, ${place(order)}`,
    ...order.lines.map((line) => `${line.count} × ${line.item}  ${euros(menu[line.item] * line.count)}`),
    `Total  ${euros(total(order))}`,
  ].join('\n');
}

// The deliberate type error: the name of the type is misspelt.
function place(order: Ordr): string {
  return order.table === undefined ? 'counter' : `table ${order.table}`;
}

export function euros(cents: number): string {
  return `${(cents / 100).toFixed(2)} €`;
}
