// The program plugins of a window: starts, stops and describes them, and knows their states.
import { Sequence } from '../../base/async.ts';
import { type Disposable, DisposableStore } from '../../base/disposable.ts';
import { Emitter } from '../../base/emitter.ts';
import { describeError, describeFailure, failed, type Result, succeeded } from '../../base/errors.ts';
import { printWords } from '../../base/printPath.ts';
import { maskSecrets } from '../../base/secrets/maskSecrets.ts';
import { type HostMessageOf, type PluginDescription, type Program, LONGEST_LINE } from '../../protocol/plugin.ts';
import { jsonCodec } from '../jsonCodec.ts';
import { type OutputSink, PluginOutput } from '../output.ts';
import { type PluginEnd, PluginPeer } from '../peer.ts';
import { type SharedParts } from '../sharedParts.ts';
import { type ConsentDeps, type InspectedProgram, notApproved, type ProgramConsent } from './consent.ts';
import { CommandWatch } from './commandWatch.ts';
import { type Fingerprint } from '../../node/files/fingerprint.ts';
import { PluginProcess } from './pluginProcess.ts';
import { describeEnd, type PluginState, type PluginStatus } from './pluginStatus.ts';
import { type Clock } from '../../base/clock.ts';
import { LineSplitter } from '../../base/json/jsonLines.ts';
import { type PluginCodec } from '../codec.ts';

export interface PluginHostDeps extends Pick<ConsentDeps, 'programs' | 'isTrusted'> {
  readonly consent: ProgramConsent;
  readonly shared: SharedParts;
  init(options: Readonly<Record<string, unknown>>, args: readonly string[]): HostMessageOf<'init'>;
  openOutput(name: string): OutputSink;
}

interface Running {
  readonly peer: PluginPeer;
  readonly process: PluginProcess;
  readonly args: readonly string[];
  readonly ended: Promise<void>;
  stopping: boolean;
}

interface PluginEntry {
  running?: Running;
  starting?: Promise<Result<void>>;
  end?: PluginEnd;
  /** Results of the last inspection: whether it is approved, why it cannot run, and the hashes of its files. */
  approved?: boolean;
  problem?: string;
  files?: string;
  description?: PluginDescription;
  output?: PluginOutput;
}

export class PluginHost implements Disposable {
  readonly #deps: PluginHostDeps;
  readonly #held = new DisposableStore();
  readonly #known = new Map<string, PluginEntry>();
  readonly #onDidChange: Emitter<void>;
  readonly #watch: CommandWatch;
  readonly #refreshes = new Sequence();
  #closed = false;

  constructor(deps: PluginHostDeps) {
    this.#deps = deps;
    const { clock } = deps.shared.ports;
    const report = (error: unknown) => this.#logger.error('program plugins could not be checked', error);
    this.#watch = this.#held.add(new CommandWatch({ clock, changed: () => void this.refresh().catch(report) }));
    this.#onDidChange = this.#held.add(new Emitter((error) => this.#logger.error('a listener failed', error)));
  }

  /** Fires when the status of a plugin may have changed. */
  get onDidChange(): Emitter<void>['event'] {
    return this.#onDidChange.event;
  }

  /** Every configured program, by name. */
  get statuses(): readonly PluginStatus[] {
    return [...this.#deps.programs()].map(([name, program]) => this.#statusOf(name, program));
  }

  /** Inspects all commands again, so that `statuses` is up to date, and watches their files from now on. */
  refresh(): Promise<void> {
    return this.#refreshes.run(() => this.#refresh());
  }

  /** Starts the plugins that are configured to start with the window. */
  async startAll(): Promise<void> {
    const starting = [...this.#deps.programs()].filter(([, { start, run }]) => start === 'window' && run !== 'deny');
    if (!this.#deps.isTrusted()) return;
    await Promise.all(starting.map(([name]) => this.#start(name, [], true)));
  }

  /** Asks the user first if the program has never run or has changed. */
  run(name: string, args: readonly string[] = []): Promise<Result<void>> {
    return this.#start(name, args, false);
  }

  /** Asks the user whether it may run, without running it. */
  async approve(name: string): Promise<Result<void>> {
    const allowed = await this.#deps.consent.allow(name, false);
    if (!allowed.ok) return allowed;
    this.#storeInspection(this.#knownOf(name), allowed);
    this.#onDidChange.fire();
    await this.describe(name);
    return succeeded(undefined);
  }

  /** Starts the plugin to get its description, if it is approved. */
  async describe(name: string): Promise<Result<PluginDescription>> {
    const inspected = await this.#deps.consent.inspect(name);
    if (!inspected.ok) return inspected;
    if (!this.#deps.isTrusted() || !inspected.value.isApproved) return notApproved(name);
    const output = this.#outputOf(name);
    const { clock, ids } = this.#deps.shared.ports;
    const described = await describePlugin({
      fingerprint: inspected.value.fingerprint,
      clock,
      codec: jsonCodec,
      mark: ids.ulid(),
      stderr: (chunk) => output.stderr(chunk),
    });
    if (described.ok) this.#knownOf(name).description = described.value;
    else output.note('warn', describeFailure(described.failure));
    this.#onDidChange.fire();
    return described;
  }

  /** Resolves once the plugin and all processes that it started have ended. */
  async stop(name: string): Promise<void> {
    const running = this.#known.get(name)?.running;
    if (running === undefined) return;
    this.#shutDown(running);
    this.#onDidChange.fire();
    await running.ended;
  }

  /** Uses the same arguments again if the plugin is running, otherwise none. */
  async restart(name: string): Promise<Result<void>> {
    const args = this.#known.get(name)?.running?.args ?? [];
    await this.stop(name);
    return this.run(name, args);
  }

  /** Resolves once a running plugin has ended. */
  async ended(name: string): Promise<PluginEnd | undefined> {
    const known = this.#known.get(name);
    await known?.running?.ended;
    return known?.end;
  }

  /** The process id of a running plugin. */
  pidOf(name: string): number | undefined {
    return this.#known.get(name)?.running?.process.pid;
  }

  /** Bytes that wait for a running plugin. */
  waitingFor(name: string): number {
    return this.#known.get(name)?.running?.peer.waiting ?? 0;
  }

  /** Shuts down all plugins. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([...this.#known.keys()].map((name) => this.stop(name)));
    this.dispose();
  }

  dispose(): void {
    this.#closed = true;
    for (const { running } of this.#known.values()) running?.peer.dispose();
    this.#held.dispose();
  }

  async #refresh(): Promise<void> {
    const { consent, programs } = this.#deps;
    const places = consent.places();
    // Watched first, so that a change during the inspection causes another one.
    await this.#watch.watch(places);
    const real: string[] = [];
    for (const name of programs().keys()) {
      const inspected = await consent.inspect(name);
      this.#storeInspection(this.#knownOf(name), inspected);
      if (inspected.ok) real.push(...inspected.value.fingerprint.files.map(({ path }) => path));
    }
    await this.#watch.watch([...places, ...real]);
    if (!this.#closed) this.#onDidChange.fire();
  }

  /** Stores the result, and forgets how the program ended if its files have changed since. */
  #storeInspection(known: PluginEntry, inspected: Result<InspectedProgram>): void {
    const files = inspected.ok ? JSON.stringify(inspected.value.fingerprint.files) : '';
    if (known.files !== undefined && known.files !== files) delete known.end;
    known.files = files;
    known.approved = inspected.ok && inspected.value.isApproved;
    if (inspected.ok) delete known.problem;
    else known.problem = describeFailure(inspected.failure);
  }

  get #logger() {
    return this.#deps.shared.ports.logger;
  }

  async #start(name: string, args: readonly string[], unasked: boolean): Promise<Result<void>> {
    const known = this.#knownOf(name);
    known.starting ??= this.#allowAndStart(name, args, unasked).finally(() => {
      delete known.starting;
      this.#onDidChange.fire();
    });
    return known.starting;
  }

  async #allowAndStart(name: string, args: readonly string[], unasked: boolean): Promise<Result<void>> {
    const known = this.#knownOf(name);
    if (known.running !== undefined) return failed('plugin', `The program plugin ${name} is running.`);
    const allowed = await this.#deps.consent.allow(name, unasked);
    if (!allowed.ok) return allowed;
    this.#storeInspection(known, allowed);
    if (this.#closed) return failed('plugin', 'The window is closing.');
    const { program, fingerprint } = allowed.value;
    try {
      known.running = this.#launch(name, program, fingerprint, args);
    } catch (error) {
      return failed('plugin', `It could not be started: ${describeError(error)}.`);
    }
    delete known.end;
    return succeeded(undefined);
  }

  #launch(name: string, program: Program, fingerprint: Fingerprint, args: readonly string[]): Running {
    const { shared, init, programs } = this.#deps;
    const { clock, ids } = shared.ports;
    const output = this.#outputOf(name);
    const { promise: ended, resolve } = Promise.withResolvers<void>();
    const process = new PluginProcess({
      program: fingerprint.program,
      args: fingerprint.args,
      folder: fingerprint.folder,
      clock,
      mark: ids.ulid(),
      stdout: (chunk) => peer.receive(chunk),
      stderr: (chunk) => output.stderr(chunk),
      closed: (how) => peer.closed(how),
    });
    const started = init(program.options, args);
    const commandLine = maskSecrets(printWords([fingerprint.program, ...fingerprint.args]));
    const peer = new PluginPeer({
      name,
      transport: process.transport,
      codec: jsonCodec,
      shared,
      output,
      init: started,
      mayAnswer: () => programs().get(name)?.approve === true,
      process: () => (process.pid === undefined ? {} : { program: { pid: process.pid, command: commandLine } }),
      ended: (end) => {
        void this.#finish(name, running, end, resolve).catch((error: unknown) =>
          this.#logger.error(`the program plugin ${name} could not be ended`, error),
        );
      },
    });
    const running: Running = { peer, process, args, ended, stopping: false };
    output.note('info', `Started: ${[fingerprint.program, ...fingerprint.args].join(' ')}`);
    return running;
  }

  #shutDown(running: Running): void {
    if (running.stopping) return;
    running.stopping = true;
    running.peer.shutDown();
    void running.process
      .end()
      .catch((error: unknown) => this.#logger.error('a program plugin could not be ended', error));
  }

  async #finish(name: string, running: Running, end: PluginEnd, resolve: () => void): Promise<void> {
    const known = this.#knownOf(name);
    // A plugin that violated the protocol is asked to end as well.
    if (end.failure !== undefined) running.peer.shutDown();
    running.stopping = true;
    const closeInput = () => running.process.closeInput();
    running.peer.flushed().then(closeInput, closeInput);
    this.#onDidChange.fire();
    await running.process.end();
    running.peer.dispose();
    const output = this.#outputOf(name);
    output.end();
    if (end.failure === undefined) output.note('info', describeEnd(end));
    else {
      output.note('error', end.failure);
      this.#logger.warn(`the program plugin ${name} failed: ${end.failure}`);
    }
    known.end = end;
    if (known.running === running) delete known.running;
    resolve();
    if (!this.#closed) this.#onDidChange.fire();
  }

  #knownOf(name: string): PluginEntry {
    const known = this.#known.get(name) ?? {};
    this.#known.set(name, known);
    return known;
  }

  #outputOf(name: string): PluginOutput {
    const known = this.#knownOf(name);
    known.output ??= new PluginOutput(this.#deps.openOutput(name), this.#deps.shared.ports.clock);
    return known.output;
  }

  #statusOf(name: string, { command, approve, start, run }: Program): PluginStatus {
    const known = this.#known.get(name) ?? {};
    const { running, end, description, problem } = known;
    const detail = problem ?? end?.failure ?? (end === undefined ? undefined : describeEnd(end));
    return {
      name,
      state: stateOf(known, run),
      ...(detail !== undefined && running === undefined && { detail }),
      command,
      ...(description && { description }),
      approve,
      startsWithWindow: start === 'window',
      attached: false,
    };
  }
}

function stateOf({ running, end, approved, problem }: PluginEntry, run: Program['run']): PluginState {
  if (running !== undefined) return running.stopping ? 'stopping' : 'running';
  if (run === 'deny') return 'denied';
  if (problem !== undefined || end?.failure !== undefined || (end?.code ?? 0) !== 0) return 'failed';
  return approved === false ? 'not_approved' : 'stopped';
}

const ANSWERS_WITHIN = 10_000;

interface DescribeDeps {
  readonly fingerprint: Fingerprint;
  readonly clock: Clock;
  readonly codec: PluginCodec;
  readonly mark: string;
  stderr(chunk: Uint8Array): void;
}

/** Resolves once the plugin has ended. */
async function describePlugin(deps: DescribeDeps): Promise<Result<PluginDescription>> {
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
