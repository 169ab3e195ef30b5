// What is looked for of a call's addresses: each as a whole, and what it was before something was added to it.
import { expect, test } from 'vitest';
import { addressesIn } from '../../../../src/core/consent/callTexts.ts';

test('an address is also looked for without its values and as its origin', () => {
  const texts = addressesIn(['see https://a.example/x?y=1&z=2#top.']).map(({ text }) => text);
  expect(texts).toEqual([
    'https://a.example/x?y=1&z=2#top',
    'https://a.example/x?y=1&z=2',
    'https://a.example/x?',
    'https://a.example/x?y=',
    'https://a.example/x?y=1&z=',
    'https://a.example/x',
    'https://a.example/x?y',
    'https://a.example/x?y=1&z',
    'https://a.example',
  ]);
});

test('of many addresses each is looked for as a whole, and all together with their beginnings at most 1000', () => {
  const links = Array.from({ length: 600 }, (_, number) => `https://a.example/${number}?y=${number}`);
  const texts = addressesIn([links.join(' ')]).map(({ text }) => text);
  expect(texts.slice(0, 600)).toEqual(links);
  expect(texts).toHaveLength(1000);
});
