// What the programs outside the editor share: their place, their end, and what they write to stderr.
import { basename, dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describeError } from '../base/errors.ts';

const HERE = dirname(fileURLToPath(import.meta.url));
/** The folder of the built programs: this module is part of one, or a chunk of several. */
export const PROGRAMS = basename(HERE) === 'chunks' ? dirname(HERE) : HERE;

/** Logs to stderr, since stdout may carry a protocol. */
export const stderrLogger = {
  debug: () => undefined,
  info: () => undefined,
  warn: (message: string) => void process.stderr.write(`${message}\n`),
  error: (message: string, error?: unknown) =>
    void process.stderr.write(`${message}${error === undefined ? '' : `: ${describeError(error)}`}\n`),
};

/** Runs the program and exits with its code. */
export function runProgram(main: () => Promise<number | void>, codeOfFailure = 1): void {
  main().then(
    (code) => process.exit(code ?? 0),
    (error: unknown) => {
      process.stderr.write(`${describeError(error)}\n`);
      process.exit(codeOfFailure);
    },
  );
}

/** Calls once a signal asks this process to end. */
export function onSignal(end: () => void): void {
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.once(signal, () => end());
}

/** Resolves once the client closes the input, or a signal ends this process. */
export function inputEnded(): Promise<void> {
  return new Promise((resolve) => {
    process.stdin.once('end', resolve);
    process.stdin.once('close', resolve);
    onSignal(resolve);
  });
}
