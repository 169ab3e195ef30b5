// The dispatcher finds the same listeners as a matcher that tries every subscription.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compileGlob, globKeyOf } from '../../../../src/core/files/globs.ts';
import { SubscriptionIndex } from '../../../../src/core/notify/dispatcher.ts';
import { type Addressed, type Subscription } from '../../../../src/core/notify/outlet.ts';
import { runs } from '../../../support/runs.ts';

const listener = fc.constantFrom('a', 'b', 'c', 'd');
const segment = fc.constantFrom('src', 'lib', 'a.ts', 'b.test.ts', 'c.js', '.env', 'x y', 'ä.ts', 'ab', '.');
const path = fc
  .array(segment, { minLength: 1, maxLength: 4 })
  .chain((segments) => fc.constantFrom(segments.join('/'), `${segments.join('/')}/`, `./${segments.join('/')}`));
const globSegment = fc.oneof(
  segment,
  fc.constantFrom(
    '*',
    '**',
    '*.ts',
    '*.test.ts',
    'a*',
    '?b',
    '[ab]b',
    '{src,lib}',
    '*.{ts,js}',
    '@(src|lib)',
    '!(src)',
  ),
  fc.constantFrom('!src', 'a|b', '\\*', '..', '', '(a', '{a', 'c}', '*.', '.*', '**.ts', '[', ']', '+(ab)'),
);
const glob = fc.array(globSegment, { minLength: 1, maxLength: 4 }).map((segments) => segments.join('/'));
const scope = fc.oneof(
  path.map((one) => `file:${one}`),
  fc.constantFrom('handle:build', 'mcp:github', 'task:npm: build', 'mention:amber', 'kind:task.ended', 'glob:**'),
);
const subscription: fc.Arbitrary<Subscription> = fc.oneof(
  { weight: 4, arbitrary: glob.map((one) => ({ scope: `glob:${one}` })) },
  { weight: 3, arbitrary: scope.map((one) => ({ scope: one })) },
  { weight: 1, arbitrary: fc.constantFrom('amber', 'birch').map((mention) => ({ mention })) },
  { weight: 1, arbitrary: fc.constant<Subscription>({ all: true }) },
);

const compiled = new Map<string, (path: string) => boolean>();

/** The rule of SPEC 4, without an index. */
function isSubscribed(subscribed: Subscription, scopes: readonly string[]): boolean {
  if ('all' in subscribed) return true;
  if ('mention' in subscribed) return scopes.includes(`mention:${subscribed.mention}`);
  if (!subscribed.scope.startsWith('glob:')) return scopes.includes(subscribed.scope);
  const pattern = subscribed.scope.slice(5);
  const matches = compiled.get(pattern) ?? compileGlob(pattern);
  compiled.set(pattern, matches);
  return scopes.some((one) => one.startsWith('file:') && matches(one.slice(5)));
}

function listenersWithoutIndex(
  held: readonly (readonly [string, Subscription])[],
  scopes: readonly string[],
  { to, sender }: Addressed,
): string[] {
  const found = held.filter(([, one]) => isSubscribed(one, scopes)).map(([who]) => who);
  return [...new Set(found)].filter((who) => who !== sender && (to === undefined || who === to)).sort();
}

test('for any subscriptions, scopes, senders and addressees the listeners equal those found without an index', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(listener, subscription, fc.boolean()), { maxLength: 25, size: 'max' }),
      fc.array(fc.array(scope, { maxLength: 4 }), { minLength: 1, maxLength: 6 }),
      fc.record({ to: fc.option(listener, { nil: undefined }), sender: fc.option(listener, { nil: undefined }) }),
      (subscribed, published, addressed) => {
        const dispatcher = new SubscriptionIndex();
        const held = subscribed.map(([who, one]) => dispatcher.subscribe(who, one));
        const compare = (left: typeof subscribed) => {
          const pairs = left.map(([who, one]) => [who, one] as const);
          for (const scopes of published) {
            expect([...dispatcher.listeners({ scopes }, addressed)].sort()).toEqual(
              listenersWithoutIndex(pairs, scopes, addressed),
            );
          }
        };
        compare(subscribed);
        for (const [index, [, , ends]] of subscribed.entries()) if (ends) held[index]?.dispose();
        compare(subscribed.filter(([, , ends]) => !ends));
        for (const one of held) one.dispose();
        compare([]);
      },
    ),
    { numRuns: runs(800, 3000) },
  );
});

test('a glob for everything in a folder matches the folder itself', () => {
  const dispatcher = new SubscriptionIndex();
  const held = dispatcher.subscribe('a', { scope: 'glob:src/**' });
  expect(dispatcher.listeners({ scopes: ['file:src'] })).toEqual(new Set(['a']));
  expect(dispatcher.listeners({ scopes: ['file:source'] })).toEqual(new Set());
  held.dispose();
});

test('globs are indexed by folder and file name ending', () => {
  expect(['src/**/*.ts', '**/package.json', 'src/a.ts', '*.{ts,js}', '!src/*.ts', 'a/b/*'].map(globKeyOf)).toEqual([
    { folder: 'src', tail: '.ts' },
    { folder: '', tail: 'package.json' },
    { folder: 'src', tail: 'a.ts' },
    { folder: '', tail: '' },
    { folder: '', tail: '' },
    { folder: 'a/b', tail: '' },
  ]);
});

test('an overlong glob matches nothing', () => {
  const dispatcher = new SubscriptionIndex();
  const held = dispatcher.subscribe('a', { scope: `glob:${'*/'.repeat(50_000)}` });
  expect(dispatcher.listeners({ scopes: ['file:x/y'] })).toEqual(new Set());
  held.dispose();
});
