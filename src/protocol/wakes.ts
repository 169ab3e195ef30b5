// The conditions that a conversation can wait for: the schema of each kind of atom, and the limits.
import * as z from 'zod';

/** Timers and conditions that a conversation may have at a time. */
export const MOST_WAKES = 20;
export const MOST_ATOMS = 16;
/** Nested `all` and `any`. */
export const MOST_LEVELS = 3;
/** How often a repeated timer may fire. */
export const MOST_FIRES = 50;

const duration = z.string().min(1).max(40);
/** The arguments with which timers and conditions are asked for, by the model and by outside agents. */
export const wakeArguments = {
  name: z
    .string()
    .regex(/^[\w.-]{1,60}$/, 'letters, digits, dots and hyphens only, at most 60')
    .optional(),
  when: z.record(z.string(), z.unknown()).optional(),
  every: duration.optional().describe('Instead of when: repeats a timer, 5m to 7d'),
  most: z.int().min(1).max(MOST_FIRES).optional().describe('With every: how often; default 50'),
  or_after: duration.optional().describe('Deadline; default 1h (every: 7d), at most 7d'),
  note: z.string().max(500).optional().describe('What to do then'),
  cancel: z.string().optional().describe('Name to cancel'),
};
export type WakeArguments = z.infer<z.ZodObject<typeof wakeArguments>>;

const text = (most: number) => z.string().min(1).max(most);

/** By the field that names the atom. */
export const atomSchemas = {
  /** A background command or subagent of the conversation. */
  handle: z.strictObject({ handle: text(200), is: z.enum(['ok', 'failed', 'ended', 'waiting']) }),
  /** Text that a background command prints from now on; upper and lower case are the same. */
  output: z.strictObject({ output: text(200), has: text(500) }),
  /** The next end of a task of the editor. */
  task: z.strictObject({ task: text(500), is: z.enum(['ok', 'failed', 'ended']) }),
  /** Errors and warnings of language servers, by glob. */
  problems: z.strictObject({ problems: text(500), is: z.enum(['none', 'some']) }),
  file: z.strictObject({ file: text(4000), is: z.enum(['changed', 'exists', 'gone']) }),
  /** A port of this machine. */
  port: z.strictObject({ port: z.int().min(1).max(65_535), is: z.enum(['open', 'closed']) }),
  /** The CI of a commit: what is checked out now, or its hash. */
  ci: z.strictObject({
    ci: z.union([z.literal('HEAD'), z.string().regex(/^[0-9a-f]{7,64}$/)]),
    is: z.enum(['green', 'red', 'done']),
  }),
  /** The pull request of the branch that is checked out now. */
  pr: z.strictObject({
    pr: z.literal('HEAD'),
    is: z.enum(['approved', 'changes_requested', 'commented', 'merged', 'conflict']),
  }),
  /** A subagent. */
  agent: z.strictObject({ agent: text(200), is: z.enum(['idle', 'done']) }),
  /** The next event of an MCP server that the conversation subscribed to: `server/event`, or any of `server`. */
  event: z.strictObject({ event: text(400), has: text(500).optional() }),
  /** The next line of `earshot-notify --name`. */
  notify: z.strictObject({ notify: text(100) }),
  /** The next notification of a kind, such as `git.head_changed`, whose text may have to contain something. */
  notified: z.strictObject({ notified: text(200), has: text(500).optional() }),
  /** A time since the condition was set: `20m`. */
  after: z.strictObject({ after: text(40) }),
  /** A moment: local time, or with an offset. */
  at: z.strictObject({ at: text(40) }),
} as const;

export type AtomKind = keyof typeof atomSchemas;
export type Atom = { readonly [K in AtomKind]: z.infer<(typeof atomSchemas)[K]> }[AtomKind];
export type AtomOf<K extends AtomKind> = z.infer<(typeof atomSchemas)[K]>;
export type Condition = Atom | { readonly all: readonly Condition[] } | { readonly any: readonly Condition[] };

/** What is known about an atom. `never`: it cannot hold any more. */
export const TRUTHS = ['yes', 'no', 'unknown', 'never'] as const;
export type Truth = (typeof TRUTHS)[number];

/** What was observed, for the model: `ended with exit code 0 after 12 s`. */
const evidence = z.string().max(500);

/** The fields of the events about standing wakes, timers and conditions; `event.ts` has their types. */
export const wakeEvents = {
  /**
   * The user allowed that notifications of one source wake the model without a message of the user: at most `most`, of
   * what happens until then. Without the approval of a person, `by` is `policy`: a setting or a rule of the user.
   */
  wake_granted: {
    id: z.string(),
    /** `timer`, `condition`, `lines`, … */
    source: z.string(),
    name: z.string(),
    most: z.int().min(1),
    until: z.iso.datetime(),
    tool_call_id: z.string(),
    by: z.string(),
  },
  /** The grant's source may not wake any more. */
  wake_revoked: { id: z.string(), reason: z.string() },
  /** A timer or a condition; a later one of the same name replaces it. */
  wake_set: {
    name: z.string(),
    /** A `Condition`, with absolute times. Absent: a timer that is repeated. */
    when: z.record(z.string(), z.unknown()).optional(),
    /** Milliseconds between two fires of a repeated timer. */
    every: z.int().min(1).optional(),
    /** The deadline; of a repeated timer, its end. */
    until: z.iso.datetime(),
    note: z.string(),
    grant: z.string(),
    /** What later states are compared with, by the number of the atom: a file's hash, a size of output. */
    anchors: z.record(z.string(), z.string()).optional(),
  },
  /** An atom that counts from now on, even if it is over. */
  wake_progress: { name: z.string(), atom: z.int().min(0), at: z.iso.datetime(), evidence },
  wake_cancelled: { name: z.string(), by: z.enum(['model', 'user', 'host']), reason: z.string().optional() },
};
