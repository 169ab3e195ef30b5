// The requests of an outside agent on the window's socket (WIRE D): one JSON object per line.
import * as z from 'zod';

const id = z.string().optional();
const names = z.array(z.string().min(1).max(1000)).max(100);

/** `wake_when`: timers and conditions. `tail`: lines of growing files, with the arguments `tail` and `untail` of `watch`. */
const CALLED_TOOLS = ['wake_when', 'tail'] as const;
export type CalledTool = (typeof CALLED_TOOLS)[number];

/** By `type`. Unknown fields are ignored, so that a program may be newer than the window. */
export const listenerSchemas = {
  ready: z.object({ type: z.literal('ready'), id }),
  exit: z.object({ type: z.literal('exit'), id }),
  /** Watches the scopes of files, such as `glob:src/*.ts`, from now on, and stops watching those in `remove`. */
  watch: z.object({ type: z.literal('watch'), scopes: names.default([]), remove: names.default([]), id }),
  /** The agent has read these bytes of a file, by their SHA-256; `edited`: it has written them. */
  seen: z.object({
    type: z.literal('seen'),
    path: z.string().min(1).max(5000),
    hash: z.string().regex(/^[0-9a-f]{64}$/, 'it must be a SHA-256 in hexadecimal digits'),
    /** The first and the last line that was read, and the number of lines in the file; absent for the whole file. */
    part: z.object({ first: z.int().min(1), last: z.int().min(1), of: z.int().min(0) }).optional(),
    edited: z.boolean().default(false),
    /** The file right before the agent's own edit, as far as the agent knows it. */
    before: z.string().max(1_000_000).optional(),
    /** The file right after its own edit; absent if these are the present bytes. */
    after: z.string().max(1_000_000).optional(),
    id,
  }),
  /** `prompted`: the agent asks because its user has written to it. */
  pending: z.object({ type: z.literal('pending'), prompted: z.boolean().default(false), id }),
  /**
   * The agent is idle. Replies `waited` once something may wake it, a newer request of its session has taken this one's
   * place, or the time is over. Others are answered meanwhile.
   */
  wait: z.object({
    type: z.literal('wait'),
    seconds: z
      .number()
      .min(0)
      .max(7 * 86_400),
    id,
  }),
  /** The agent has received what `pending` returned, up to this number. */
  delivered: z.object({ type: z.literal('delivered'), through: z.int().min(0), id }),
  /** A command of the agent that commits or pushes has ended. */
  git_ran: z.object({ type: z.literal('git_ran'), id }),
  /** Calls a tool of conversations that outside agents have too. The fields are its arguments; see `CALLED_TOOLS`. */
  call: z.object({
    type: z.literal('call'),
    tool: z.enum(CALLED_TOOLS),
    arguments: z.record(z.string(), z.unknown()).default({}),
    id,
  }),
  /** Notifications in full, also delivered ones. The fields are the arguments of the tool read_notifications. */
  read: z.object({ type: z.literal('read'), arguments: z.record(z.string(), z.unknown()).default({}), id }),
} as const;

type ListenerType = keyof typeof listenerSchemas;
export type ListenerRequest = { [T in ListenerType]: z.infer<(typeof listenerSchemas)[T]> }[ListenerType];
export type ListenerRequestOf<T extends ListenerType> = Extract<ListenerRequest, { type: T }>;
