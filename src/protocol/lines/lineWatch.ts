// What the model waits for in the output of a handle or in a file: patterns of lines, and a silence.
import * as z from 'zod';

export const MOST_PATTERNS = 8;
/** How often, and for how many days, the lines of a file may wake the model after the user's approval. */
export const MOST_LINE_WAKES = 20;
export const LINE_WAKE_DAYS = 7;
const LONGEST_PATTERN = 300;

/** A part of the line in any case, with `*` for any characters, or between slashes a regular expression: `/a+/`, `/a+/i`. */
const linePatternSchema = z.string().min(1).max(LONGEST_PATTERN);

/**
 * How far the lines were searched: up to byte `through`, where a line begins. `reported`: that line was reported while
 * it had no end. `file` identifies a file whose name may be given to another one, `mark` the bytes before `through`: a file
 * may be emptied, and its identity given to another one. `modified` and `born`: when it had been written last, and was
 * made, in milliseconds since 1970.
 */
const linePositionSchema = z.strictObject({
  through: z.int().min(0),
  reported: z.literal(true).optional(),
  file: z.string().max(100).optional(),
  mark: z.string().max(40).optional(),
  modified: z.number().min(0).optional(),
  born: z.number().min(0).optional(),
});
export type LinePosition = z.infer<typeof linePositionSchema>;

/** In the data of `output.matched` and `output.quiet`, so that a line and how far it was searched are one event. */
export const searchedLinesSchema = z.object({
  /** The event that began the watch. */
  watch: z.string(),
  position: linePositionSchema,
  /** The number of matches of each pattern, by its index. */
  matches: z.record(z.string(), z.int()).optional(),
  /** The size at which nothing more was printed. */
  quiet: z.int().optional(),
});
export type SearchedLines = z.infer<typeof searchedLinesSchema>;

/** The arguments with which lines are asked for. Every request of the model has them, so the tools check their limits. */
export const notifyOn = z.array(z.string()).optional();
export const quietAfter = z.int().min(30).max(3600).optional();
export const tailArguments = z.strictObject({
  path: z.string(),
  notify_on: notifyOn,
  quiet_after_secs: quietAfter,
  wake: z.boolean().optional(),
});
export type TailArguments = z.infer<typeof tailArguments>;

/** The events of the log. */
export const lineEvents = {
  /**
   * The model waits for lines of a handle or a file, which `target` names by its scope. Replaces what it waited for
   * there; without patterns and silence it no longer waits. `grant`: the standing wake that the user has approved.
   */
  lines_watched: {
    target: z.string().max(5000),
    patterns: z.array(linePatternSchema).max(MOST_PATTERNS),
    quiet_after_secs: z.int().min(1).optional(),
    grant: z.string().max(100).optional(),
    position: linePositionSchema,
  },
  /** Lines were searched this far without a report. `watch` is the event that began it; `done`: there will be no more. */
  lines_searched: { watch: z.string(), position: linePositionSchema, done: z.literal(true).optional() },
};
