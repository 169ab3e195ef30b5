// Writes a plugin's print, log and stderr to its own output channel. Limits the rate of stderr.
import { type Clock } from '../base/clock.ts';
import { type RequestOf } from '../protocol/plugin.ts';

const CHANNELS = ['content', 'chrome', 'tool_call', 'tool_result', 'reasoning', 'error'] as const;
type Channel = (typeof CHANNELS)[number];

const LEVELS = ['error', 'warn', 'info', 'debug', 'trace'] as const;
export type PluginLogLevel = (typeof LEVELS)[number];

/** An output channel. */
export interface OutputSink {
  append(text: string): void;
  log(level: PluginLogLevel, message: string): void;
}

/** A longer line of stderr is cut. */
const LONGEST_ERROR_LINE = 8192;
/** Bytes of stderr that are shown in one second. */
const MOST_ERRORS = 64 * 1024;
const SECOND = 1000;

export class PluginOutput {
  readonly #sink: OutputSink;
  readonly #clock: Clock;
  readonly #decoder = new TextDecoder();
  #errorLine = '';
  #second = { since: 0, bytes: 0, dropped: 0 };

  constructor(sink: OutputSink, clock: Clock) {
    this.#sink = sink;
    this.#clock = clock;
  }

  /** Treats an unknown channel as `content` and an unknown format as plain text. */
  print({ text, channel, format, language }: RequestOf<'print'>): void {
    const known: Channel = CHANNELS.find((one) => one === channel) ?? 'content';
    const shown = format === 'code' ? `\`\`\`${language ?? ''}\n${text}\n\`\`\`` : text;
    this.#sink.append(known === 'content' ? shown : `[${known}] ${shown}`);
  }

  log({ level, message, fields }: RequestOf<'log'>): void {
    const details = fields === undefined || Object.keys(fields).length === 0 ? '' : ` ${JSON.stringify(fields)}`;
    this.#sink.log(levelOf(level), `${message}${details}`);
  }

  /** Logs a message of the host about the plugin. */
  note(level: PluginLogLevel, message: string): void {
    this.#sink.log(level, message);
  }

  /** Logs text that the plugin wrote to stderr. */
  stderr(chunk: Uint8Array): void {
    const now = this.#clock.now();
    if (now - this.#second.since >= SECOND) this.#beginSecond(now);
    this.#second.bytes += chunk.length;
    if (this.#second.bytes > MOST_ERRORS) {
      this.#second.dropped += chunk.length;
      return;
    }
    const lines = (this.#errorLine + this.#decoder.decode(chunk, { stream: true })).split('\n');
    this.#errorLine = lines.pop() ?? '';
    if (this.#errorLine.length > LONGEST_ERROR_LINE)
      lines.push(this.#errorLine.slice(0, LONGEST_ERROR_LINE), (this.#errorLine = ''));
    for (const line of lines) if (line !== '') this.#sink.log('warn', line.slice(0, LONGEST_ERROR_LINE));
  }

  end(): void {
    this.#beginSecond(0);
    if (this.#errorLine !== '') this.#sink.log('warn', this.#errorLine);
    this.#errorLine = '';
  }

  #beginSecond(now: number): void {
    const { dropped } = this.#second;
    this.#second = { since: now, bytes: 0, dropped: 0 };
    if (dropped > 0) this.#sink.log('warn', `(${dropped} bytes of its error output were left out.)`);
  }
}

function levelOf(level: RequestOf<'log'>['level']): PluginLogLevel {
  if (typeof level === 'number') return LEVELS[level] ?? 'info';
  return level === 'warning' ? 'warn' : level;
}
