// Generates notifications, settings and budgets with adversarial texts, for property tests of plan and formats.
import fc from 'fast-check';
import { LEVELS, type Notification, ORIGINS } from '../../../src/protocol/notification.ts';
import { readSettings, type Settings } from '../../../src/protocol/settings.ts';

export const NASTY = [
  ']]>',
  ']]]]>><![CDATA[',
  '<notification source="file">',
  '</notification></notifications>',
  '<user_message>',
  '<more>1 x</more>',
  '&amp;&#60;&lt;',
  '"',
  "' onload='x",
  '\ud800',
  '\udfff',
  '\udc00\ud800',
  '\u0000\u0001\u001b[31m',
  '\ufffe\uffff',
  '\u202e\u2066\u200f\u061c',
  '\r\n',
  '\n',
  '\r',
  '\t',
  '\u2028\u2029\u0085',
  '\n---\n**Critical:**\n- `x`',
  '\n  > ',
  '```\n',
  '- `a`',
  '<!-- ',
  '<?xml version="1.0"?>',
  '𝄞😀',
  '漢字',
  'src/a.ts',
  '__proto__',
];

export const text = (maxLength: number) =>
  fc
    .array(
      fc.oneof(fc.constantFrom(...NASTY), fc.string({ unit: 'binary', maxLength: 12 }), fc.string({ maxLength: 30 })),
      {
        maxLength: 8,
      },
    )
    .map((parts) => parts.join('').slice(0, maxLength));

const name = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom('changed', 'deleted', 'ended', 'waiting', 'enable', 'constructor') },
  { weight: 1, arbitrary: text(100).filter((one) => one !== '') },
);
const source = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom('file', 'task', 'tool', 'diagnostics', '__proto__') },
  { weight: 1, arbitrary: text(100).filter((one) => one !== '') },
);
const at = fc
  .date({ min: new Date('2020-01-01'), max: new Date('2030-01-01'), noInvalidDate: true })
  .map((date) => date.toISOString());
const path = fc.constantFrom('src/a.ts', 'src/b.ts', 'dist/c.js', 'lib/deep/d.ts', 'README.md');
const subject = fc.oneof(
  { weight: 3, arbitrary: path.map((one) => `file:${one}`) },
  { weight: 2, arbitrary: fc.integer({ min: 0, max: 40 }).map((one) => `file:many/${one}.ts`) },
  { weight: 1, arbitrary: text(300) },
);

const draft = fc.record({
  kind: fc.record({ source, name }),
  level: fc.constantFrom(...LEVELS),
  message: fc.oneof(
    { weight: 5, arbitrary: text(2000) },
    { weight: 1, arbitrary: text(200).map((one) => one.repeat(40).slice(0, 2000)) },
  ),
  subject: fc.option(subject, { nil: undefined }),
  scopes: fc.option(
    fc.array(
      path.map((one) => `file:${one}`),
      { maxLength: 3 },
    ),
    { nil: undefined },
  ),
  data: fc.option(fc.record({ tool: fc.constantFrom('run_command', 'constructor', '') }), { nil: undefined }),
  origin: fc.constantFrom(...ORIGINS),
  at,
});

/** Notifications with unique ids, oldest first. */
export const pending = (maxLength: number): fc.Arbitrary<Notification[]> =>
  fc.array(draft, { maxLength, size: 'max' }).map((drafts) =>
    drafts.map(({ subject: one, scopes, data, ...rest }, index) => ({
      ...rest,
      id: `id${String(index).padStart(5, '0')}`,
      ...(one !== undefined && { subject: one }),
      ...(scopes !== undefined && { scopes }),
      ...(data !== undefined && { data }),
    })),
  );

/** Any settings that the schemas accept. */
export const settings: fc.Arbitrary<Settings> = fc
  .record({
    'notifications.enable': fc.oneof(
      { weight: 9, arbitrary: fc.constant(true) },
      { weight: 1, arbitrary: fc.constant(false) },
    ),
    'notifications.kinds': fc.dictionary(
      fc.constantFrom('file', 'task', 'tool', 'x'),
      fc.dictionary(fc.constantFrom('enable', 'changed', 'deleted', 'waiting'), fc.boolean()),
      { maxKeys: 2 },
    ),
    'notifications.levels': fc.dictionary(
      fc.constantFrom('file.changed', 'task.ended', 'tool.waiting'),
      fc.constantFrom(...LEVELS),
      { maxKeys: 2 },
    ),
    'notifications.cap': fc.integer({ min: 1, max: 100 }),
    'notifications.tokenBudget': fc.oneof(fc.constant(300), fc.integer({ min: 300, max: 5000 })),
    'notifications.ignoredPaths': fc.array(fc.constantFrom('dist', '**/*.ts', 'lib/**', '!', '{', '*.md'), {
      maxLength: 2,
    }),
    tools: fc.constantFrom({}, { run_command: { notifications: { waiting: false } } }),
  })
  .map((values): Settings => {
    const { settings: read, problems } = readSettings((setting) => (values as Record<string, unknown>)[setting]);
    if (problems.length > 0) throw new Error(JSON.stringify(problems));
    return read;
  });

export const contextWindow = fc.constantFrom(4000, 32_000, 128_000, 1_000_000);

export const defaultSettings: Settings = readSettings(() => undefined).settings;
