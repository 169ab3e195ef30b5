// Gets a plugin's description: starts it, sends `describe` instead of `init`, and ends it.
import { type Clock } from '../../base/clock.ts';
import { failed, type Result, succeeded } from '../../base/errors.ts';
import { LineSplitter } from '../../base/json/jsonLines.ts';
import { LONGEST_LINE, type PluginDescription } from '../../protocol/plugin.ts';
import { type PluginCodec } from '../codec.ts';
import { type Fingerprint } from '../../node/files/fingerprint.ts';
import { PluginProcess } from './pluginProcess.ts';

const ANSWERS_WITHIN = 10_000;

export interface DescribeDeps {
  readonly fingerprint: Fingerprint;
  readonly clock: Clock;
  readonly codec: PluginCodec;
  readonly mark: string;
  stderr(chunk: Uint8Array): void;
}

/** Resolves once the plugin has ended. */
export async function describePlugin(deps: DescribeDeps): Promise<Result<PluginDescription>> {
  const { fingerprint, clock, codec, mark } = deps;
  const { promise, resolve } = Promise.withResolvers<Result<PluginDescription>>();
  const refuse = (message: string) => resolve(failed('plugin', message));
  const lines = new LineSplitter(LONGEST_LINE, {
    onLine: (line) => {
      const decoded = codec.decode(line);
      if (!decoded.ok || decoded.request.type !== 'describe') return;
      const { type: _, ...description } = decoded.request;
      resolve(succeeded(description));
    },
    onTooLong: () => refuse('It sent a line longer than 8 MiB.'),
  });
  const timer = clock.after(ANSWERS_WITHIN, () => refuse('It did not describe itself within 10 s.'));
  const plugin = new PluginProcess({
    program: fingerprint.program,
    args: fingerprint.args,
    folder: fingerprint.folder,
    clock,
    mark,
    stdout: (chunk) => lines.write(chunk),
    stderr: deps.stderr,
    closed: () => refuse('It ended without describing itself.'),
  });
  plugin.transport.write(Buffer.from(`${codec.encode({ type: 'describe' })}\n`), () => undefined);
  const described = await promise;
  timer.dispose();
  await plugin.end();
  return described;
}
