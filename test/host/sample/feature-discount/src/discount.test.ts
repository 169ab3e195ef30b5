import assert from 'node:assert/strict';
import { test } from 'node:test';
import { discount } from './discount.ts';

test('small orders have no discount', () => assert.equal(discount(1999), 0));

test('ten percent from twenty euros', () => assert.equal(discount(2000), 200));
