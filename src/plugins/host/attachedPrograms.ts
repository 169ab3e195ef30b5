// Programs that run by themselves and attach to the window's socket (WIRE D): they speak the same lines as plugins.
import { type Socket } from 'node:net';
import { type Disposable } from '../../base/disposable.ts';
import { describeFailure } from '../../base/errors.ts';
import { parseObject } from '../../base/outsideJson.ts';
import { describeIssue } from '../../protocol/describeIssue.ts';
import { type Attach, attachSchema, type HostMessageOf } from '../../protocol/plugin.ts';
import { jsonCodec } from '../jsonCodec.ts';
import { PluginOutput, type OutputSink } from '../output.ts';
import { type PluginEnd, PluginPeer } from '../peer.ts';
import { type SharedParts } from '../sharedParts.ts';
import { type ConsentDeps, type ProgramConsent } from './consent.ts';
import { describeEnd, type PluginStatus } from './pluginStatus.ts';

const NEWLINE = 0x0a;
const NO_EXIT = 'It closed the connection without “exit”.';
/** Bytes that wait while the user is asked. */
const MOST_EARLY = 64 * 1024;
/** An attached program that was asked to end has this long. */
const ENDS_WITHIN = 5000;

export interface AttachedProgramsDeps extends Pick<ConsentDeps, 'programs'> {
  readonly shared: SharedParts;
  readonly consent: ProgramConsent;
  /** What `attach` must have; undefined: nothing. */
  readonly token: string | undefined;
  init(options: Readonly<Record<string, unknown>>, args: readonly string[]): HostMessageOf<'init'>;
  openOutput(name: string): OutputSink;
  changed(): void;
}

interface AttachedProgram {
  readonly name: string;
  readonly version: string;
  readonly peer: PluginPeer;
  readonly socket: Socket;
  readonly closed: Promise<void>;
}

export class AttachedPrograms implements Disposable {
  readonly #deps: AttachedProgramsDeps;
  readonly #attached = new Set<AttachedProgram>();

  constructor(deps: AttachedProgramsDeps) {
    this.#deps = deps;
  }

  /** One for each attached program. */
  get statuses(): readonly PluginStatus[] {
    return [...this.#attached].map(({ name, version }) => ({
      name,
      state: 'running',
      detail: `Attached, version ${version}.`,
      command: [],
      approve: this.#mayAnswer(name),
      startsWithWindow: false,
      attached: true,
    }));
  }

  /** Bytes that wait for the attached programs of this name. */
  waitingFor(name: string): number {
    return [...this.#attached].reduce((sum, one) => sum + (one.name === name ? one.peer.waiting : 0), 0);
  }

  /** Asks an attached program to end, then closes its connection. */
  async stop(name: string): Promise<void> {
    await Promise.all([...this.#attached].filter((one) => one.name === name).map((one) => this.#end(one)));
  }

  async close(): Promise<void> {
    await Promise.all([...this.#attached].map((one) => this.#end(one)));
    this.dispose();
  }

  dispose(): void {
    for (const { peer, socket } of this.#attached) {
      peer.dispose();
      socket.destroy();
    }
    this.#attached.clear();
  }

  async #end({ peer, socket, closed }: AttachedProgram): Promise<void> {
    peer.shutDown();
    const { promise: late, resolve } = Promise.withResolvers<void>();
    const timer = this.#deps.shared.ports.clock.after(ENDS_WITHIN, resolve);
    await Promise.race([closed, late]);
    timer.dispose();
    socket.destroy();
    await closed;
  }

  /** One that reads nothing is not waited for. */
  async #flushed(peer: PluginPeer): Promise<void> {
    const { promise: late, resolve } = Promise.withResolvers<void>();
    const timer = this.#deps.shared.ports.clock.after(ENDS_WITHIN, resolve);
    await Promise.race([peer.flushed(), late]);
    timer.dispose();
  }

  #mayAnswer(name: string): boolean {
    return this.#deps.programs().get(name)?.approve === true;
  }

  /** The first line is `attach`; what follows it waits until the user has answered. */
  serve(socket: Socket): void {
    let peer: PluginPeer | undefined;
    let asked = false;
    let ended = false;
    /** What has arrived and is not read yet. */
    let waiting: Uint8Array = new Uint8Array();
    const refuse = (message: string) => void socket.end(`${encodeRefusal(message)}\n`);
    const ask = (line: string) => {
      asked = true;
      const report = (error: unknown) => {
        this.#deps.shared.ports.logger.error('a program could not be attached', error);
        socket.destroy();
      };
      void this.#attach(line, socket, refuse)
        .then((attached) => {
          peer = attached;
          attached?.receive(waiting);
          if (attached !== undefined) socket.resume();
          if (ended) attached?.closed(NO_EXIT);
        })
        .catch(report);
    };
    socket.on('data', (data) => {
      const chunk = typeof data === 'string' ? Buffer.from(data) : data;
      if (peer !== undefined) return peer.receive(chunk);
      waiting = Buffer.concat([waiting, chunk]);
      while (!asked && waiting.includes(NEWLINE)) {
        const end = waiting.indexOf(NEWLINE);
        const line = Buffer.from(waiting.subarray(0, end)).toString('utf8');
        waiting = waiting.subarray(end + 1);
        if (line.trim() !== '') ask(line);
      }
      if (waiting.length <= MOST_EARLY) return;
      if (asked) socket.pause();
      else refuse('The first line is too long.');
    });
    socket.on('error', () => socket.destroy());
    socket.on('end', () => {
      ended = true;
      // It may still read, also after the user was asked.
      if (asked) peer?.closed(NO_EXIT);
      else socket.end();
    });
    socket.on('close', () => peer?.closed(NO_EXIT));
    // It may have waited until plugins were loaded.
    socket.resume();
  }

  async #attach(line: string, socket: Socket, refuse: (message: string) => void): Promise<PluginPeer | undefined> {
    const request = readAttach(line);
    if (typeof request === 'string') {
      refuse(request);
      return undefined;
    }
    if (this.#deps.token !== undefined && request.token !== this.#deps.token) {
      refuse('token: it is not the one in the window’s file.');
      return undefined;
    }
    if (request.listener !== undefined) {
      refuse('listener: this version of Earshot has no outside listeners.');
      return undefined;
    }
    const allowed = await this.#deps.consent.allowAttach(request.name, request.version);
    if (!allowed.ok) {
      refuse(describeFailure(allowed.failure));
      return undefined;
    }
    return socket.destroyed ? undefined : this.#connect(request, socket);
  }

  #connect({ name, version }: Attach, socket: Socket): PluginPeer {
    const { shared, init, openOutput, programs, changed } = this.#deps;
    const output = new PluginOutput(openOutput(name), shared.ports.clock);
    const { promise: closed, resolve } = Promise.withResolvers<void>();
    const ended = (end: PluginEnd) => {
      output.note(end.failure === undefined ? 'info' : 'warn', end.failure ?? describeEnd(end));
      void this.#flushed(peer)
        .then(() => socket.end())
        .catch((error: unknown) => shared.ports.logger.error('a program could not be detached', error));
    };
    const peer = new PluginPeer({
      name,
      transport: {
        write: (bytes, accepted) => void socket.write(bytes, (error) => accepted(error ?? undefined)),
        pause: () => void socket.pause(),
        resume: () => void socket.resume(),
      },
      codec: jsonCodec,
      shared,
      output,
      init: init(programs().get(name)?.options ?? {}, []),
      config: () => init({}, []).config,
      mayAnswer: () => this.#mayAnswer(name),
      ended,
    });
    const attached: AttachedProgram = { name, version, peer, socket, closed };
    this.#attached.add(attached);
    socket.on('close', () => {
      peer.dispose();
      this.#attached.delete(attached);
      resolve();
      changed();
    });
    output.note('info', `${name} ${version} is attached.`);
    changed();
    return peer;
  }
}

function encodeRefusal(message: string): string {
  return jsonCodec.encode({ type: 'error', request: 'attach', message });
}

/** The request, or why it is none. */
function readAttach(line: string): Attach | string {
  const value = parseObject(line);
  if (value === undefined) return 'The first line is not a JSON object.';
  const parsed = attachSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  return `The first line must be {"type":"attach","name","version"}: ${describeIssue(parsed.error)}.`;
}
