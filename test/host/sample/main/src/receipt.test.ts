import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Order } from './order.ts';
import { euros, receipt } from './receipt.ts';

const order: Order = {
  number: 7,
  table: 2,
  lines: [
    { item: 'sencha', count: 2 },
    { item: 'scone', count: 1 },
  ],
};

test('a receipt lists what was ordered and ends with the total', () => {
  assert.equal(receipt(order), 'Order 7, table 2\n2 × sencha  8.40 €\n1 × scone  2.80 €\nTotal  11.20 €');
});

test('prices have two decimals', () => {
  assert.equal(euros(350), '3.50 €');
});
