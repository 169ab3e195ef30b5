// The dispatcher equals a matcher that tries every subscription, for any subscriptions, scopes, senders and addressees.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Addressed, Dispatcher, type Subscription } from '../../../../src/core/notify/dispatcher.ts';
import { compileGlob, keyOf } from '../../../../src/core/notify/globs.ts';
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

/** What SPEC 4 says, with no index. */
function hears(subscribed: Subscription, scopes: readonly string[]): boolean {
  if ('all' in subscribed) return true;
  if ('mention' in subscribed) return scopes.includes(`mention:${subscribed.mention}`);
  if (!subscribed.scope.startsWith('glob:')) return scopes.includes(subscribed.scope);
  const pattern = subscribed.scope.slice(5);
  const matches = compiled.get(pattern) ?? compileGlob(pattern);
  compiled.set(pattern, matches);
  return scopes.some((one) => one.startsWith('file:') && matches(one.slice(5)));
}

function naive(
  held: readonly (readonly [string, Subscription])[],
  scopes: readonly string[],
  { to, sender }: Addressed,
): string[] {
  const found = held.filter(([, one]) => hears(one, scopes)).map(([who]) => who);
  return [...new Set(found)].filter((who) => who !== sender && (to === undefined || who === to)).sort();
}

test('hears what a matcher without an index hears, before and after some subscriptions end', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(listener, subscription, fc.boolean()), { maxLength: 25, size: 'max' }),
      fc.array(fc.array(scope, { maxLength: 4 }), { minLength: 1, maxLength: 6 }),
      fc.record({ to: fc.option(listener, { nil: undefined }), sender: fc.option(listener, { nil: undefined }) }),
      (subscribed, published, addressed) => {
        const dispatcher = new Dispatcher();
        const held = subscribed.map(([who, one]) => dispatcher.subscribe(who, one));
        const compare = (left: typeof subscribed) => {
          const pairs = left.map(([who, one]) => [who, one] as const);
          for (const scopes of published) {
            expect([...dispatcher.listeners({ scopes }, addressed)].sort()).toEqual(naive(pairs, scopes, addressed));
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

test('a folder itself is matched by what stands for all that is in it', () => {
  const dispatcher = new Dispatcher();
  const held = dispatcher.subscribe('a', { scope: 'glob:src/**' });
  expect(dispatcher.listeners({ scopes: ['file:src'] })).toEqual(new Set(['a']));
  expect(dispatcher.listeners({ scopes: ['file:source'] })).toEqual(new Set());
  held.dispose();
});

test('a glob is found under its folder and ending, so that others are not tried', () => {
  expect(['src/**/*.ts', '**/package.json', 'src/a.ts', '*.{ts,js}', '!src/*.ts', 'a/b/*'].map(keyOf)).toEqual([
    { folder: 'src', tail: '.ts' },
    { folder: '', tail: 'package.json' },
    { folder: 'src', tail: 'a.ts' },
    { folder: '', tail: '' },
    { folder: '', tail: '' },
    { folder: 'a/b', tail: '' },
  ]);
});

test('a glob longer than any real one matches nothing and costs nothing', () => {
  const dispatcher = new Dispatcher();
  const held = dispatcher.subscribe('a', { scope: `glob:${'*/'.repeat(50_000)}` });
  expect(dispatcher.listeners({ scopes: ['file:x/y'] })).toEqual(new Set());
  held.dispose();
});
