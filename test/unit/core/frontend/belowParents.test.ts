import { expect, test } from 'vitest';
import { belowParents } from '../../../../src/core/frontend/belowParents.ts';

const one = (id: string, parent?: string) => ({ id, ...(parent !== undefined && { subagent: { parent } }) });
const order = (...all: ReturnType<typeof one>[]) =>
  belowParents(all).map(({ item, nested }) => (nested ? `- ${item.id}` : item.id));

test('subagents are listed below the conversation that started them, in the order of the list', () => {
  expect(order(one('b2', 'b'), one('a'), one('b1', 'b'), one('c', 'b1'), one('b'))).toEqual([
    'a',
    'b',
    '- b2',
    '- b1',
    '- c',
  ]);
});

test('a subagent whose parent is gone, and subagents that name each other, are listed once', () => {
  expect(order(one('lone', 'gone'), one('x', 'y'), one('y', 'x'), one('self', 'self'))).toEqual([
    'lone',
    'x',
    '- y',
    'self',
  ]);
});
