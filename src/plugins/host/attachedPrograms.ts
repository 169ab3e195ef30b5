// Programs that Earshot did not start and that attach to the window's socket (WIRE D). They speak the same protocol.
import { type Socket } from 'node:net';
import { within } from '../../base/async.ts';
import { type Disposable } from '../../base/disposable.ts';
import { describeFailure, failed } from '../../base/errors.ts';
import { parseObject } from '../../base/json/outsideJson.ts';
import { type Listeners } from '../../core/listeners.ts';
import { describeIssue } from '../../protocol/describeIssue.ts';
import { type Attach, attachSchema, type HostMessageOf } from '../../protocol/plugin.ts';
import { type PluginTransport } from '../connection.ts';
import { jsonCodec } from '../jsonCodec.ts';
import { ListenerPeer, type ListenerTools } from '../listeners/listenerPeer.ts';
import { type PeerProcess } from '../../node/peerProcess.ts';
import { PluginOutput, type OutputSink } from '../output.ts';
import { type PluginEnd, PluginPeer } from '../peer.ts';
import { type SharedParts } from '../sharedParts.ts';
import { callBack } from './callBack.ts';
import { type ConsentDeps, type ProgramConsent } from './consent.ts';
import { describeEnd, type PluginStatus } from './pluginStatus.ts';

const NEWLINE = 0x0a;
const NO_EXIT = 'It closed the connection without “exit”.';
/** Bytes that are buffered while the user is asked. */
const MOST_EARLY = 64 * 1024;
/** How long an attached program that was asked to end may take. */
const ENDS_WITHIN = 5000;

export interface AttachedProgramsDeps extends Pick<ConsentDeps, 'programs'> {
  readonly shared: SharedParts;
  readonly consent: Pick<ProgramConsent, 'allowAttach' | 'allowListen'>;
  /** The token that `attach` must contain; undefined: none is required. */
  readonly token: string | undefined;
  init(options: Readonly<Record<string, unknown>>, args: readonly string[]): HostMessageOf<'init'>;
  openOutput(name: string): OutputSink;
  changed(): void;
  /** Absent: outside agents are not supported. */
  readonly listeners?: Listeners | undefined;
  /** The spool has a line from a script. Resolves to the number of conversations that got it. Absent: not supported. */
  spooled?(id: string): Promise<number>;
  /** For outside agents. */
  readonly tools?: ListenerTools;
  /** Answers a first line that is no `attach`; undefined: it has no answer. Absent: there are no such lines. */
  answer?(type: string): Promise<object> | undefined;
}

const NO_TOOLS: ListenerTools = {
  read: async () => failed('plugin', 'Earlier notifications cannot be read here.'),
  call: async () => failed('plugin', 'There are no timers and no lines of files here.'),
};

type AttachedPeer = Pick<PluginPeer, 'receive' | 'closed' | 'shutDown' | 'flushed' | 'waiting' | 'dispose'>;

/** A program and the connection that carries its lines. */
interface Attached {
  readonly peer: AttachedPeer;
  readonly socket: Socket;
}

interface AttachedProgram {
  readonly name: string;
  readonly version: string;
  readonly listens: boolean;
  /** The process that the user has allowed to answer; absent: it may only watch. */
  readonly answering?: PeerProcess | undefined;
  /** True for hooks, which attach briefly with every tool call and are not listed. */
  readonly passing?: boolean;
  readonly peer: AttachedPeer;
  readonly socket: Socket;
  readonly closed: Promise<void>;
}

export class AttachedPrograms implements Disposable {
  readonly #deps: AttachedProgramsDeps;
  readonly #attached = new Set<AttachedProgram>();

  constructor(deps: AttachedProgramsDeps) {
    this.#deps = deps;
  }

  /** The status of each attached program. */
  get statuses(): readonly PluginStatus[] {
    const shown = [...this.#attached].filter(({ passing }) => passing !== true);
    return shown.map(({ name, version, listens, answering }) => ({
      name,
      state: 'running',
      detail: listens ? `Gets notifications, version ${version}.` : `Attached, version ${version}.`,
      command: answering === undefined ? [] : [answering.command],
      approve: answering !== undefined && this.#mayAnswer(name),
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
    await within(this.#deps.shared.ports.clock, ENDS_WITHIN, closed);
    socket.destroy();
    await closed;
  }

  /** Waits only a bounded time for a program that does not read. */
  async #flushed(peer: AttachedPeer): Promise<void> {
    await within(this.#deps.shared.ports.clock, ENDS_WITHIN, peer.flushed());
  }

  /** Whether the settings allow programs of this name to answer; the process needs the user's approval too. */
  #mayAnswer(name: string): boolean {
    return this.#deps.programs().get(name)?.approve === true;
  }

  /** The first line must be `attach`. Later lines are buffered until the user has answered. */
  serve(socket: Socket): void {
    let peer: AttachedPeer | undefined;
    let asked = false;
    let ended = false;
    /** Received bytes that are not handled yet. */
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
          if (attached === undefined) return;
          if (attached.socket !== socket) return void socket.end();
          peer = attached.peer;
          peer.receive(waiting);
          socket.resume();
          if (ended) peer.closed(NO_EXIT);
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
      // Only its sending side is closed: it may still read replies, also those after the user has answered.
      if (asked) peer?.closed(NO_EXIT);
      else socket.end();
    });
    socket.on('close', () => peer?.closed(NO_EXIT));
    // The socket may have been paused until plugins were loaded.
    socket.resume();
  }

  /** The program is attached by another connection if it was called back. */
  async #attach(line: string, socket: Socket, refuse: (message: string) => void): Promise<Attached | undefined> {
    const spooled = readSpooled(line);
    if (spooled !== undefined) {
      // Says only where to look, so that it needs no approval.
      const matched = (await this.#deps.spooled?.(spooled)) ?? 0;
      socket.end(`${JSON.stringify({ type: 'done', matched })}\n`);
      return undefined;
    }
    const answered = this.#answer(line);
    if (answered !== undefined) {
      socket.end(`${JSON.stringify(await answered)}\n`);
      return undefined;
    }
    const request = readAttach(line);
    if (typeof request === 'string') {
      refuse(request);
      return undefined;
    }
    if (this.#deps.token !== undefined && request.token !== this.#deps.token) {
      refuse('token: it is not the one in the window’s file.');
      return undefined;
    }
    const { version, listener: agent } = request;
    const { consent, listeners } = this.#deps;
    if (agent !== undefined && listeners === undefined) {
      refuse('listener: this window has no outside agents.');
      return undefined;
    }
    if (agent === undefined || listeners === undefined) return this.#attachPlugin(request, socket, refuse);
    const allowed = await consent.allowListen({ agent, version });
    if (!allowed.ok) refuse(describeFailure(allowed.failure));
    if (!allowed.ok || socket.destroyed) return undefined;
    return { peer: this.#listen({ ...request, listener: agent }, listeners, socket), socket };
  }

  #answer(line: string): Promise<object> | undefined {
    const { answer, token } = this.#deps;
    const asked = answer && parseObject(line);
    if (asked === undefined || typeof asked['type'] !== 'string') return undefined;
    return token === undefined || asked['token'] === token ? answer?.(asked['type']) : undefined;
  }

  /** Only a program whose process is known can be allowed to answer; its name proves nothing. */
  async #attachPlugin(
    request: Attach,
    first: Socket,
    refuse: (message: string) => void,
  ): Promise<Attached | undefined> {
    const { name, version, call_back: wanted } = request;
    const { consent, shared } = this.#deps;
    const called = wanted && this.#mayAnswer(name) ? await callBack(wanted, shared.ports.clock) : undefined;
    const known = called?.ok === true ? called.value : undefined;
    const allowed = await consent.allowAttach(name, version, known?.process);
    const socket = known?.socket ?? first;
    if (!allowed.ok) {
      known?.socket.destroy();
      refuse(describeFailure(allowed.failure));
    }
    if (!allowed.ok || socket.destroyed) return undefined;
    known?.confirm();
    const answering = allowed.value.mayAnswer ? known?.process : undefined;
    const peer = this.#connect(request, socket, answering);
    if (called?.ok === false) peer.output.note('warn', `It may not answer: ${describeFailure(called.failure)}`);
    if (known !== undefined) follow(socket, peer);
    return { peer, socket };
  }

  #connect({ name, version }: Attach, socket: Socket, answering: PeerProcess | undefined): PluginPeer {
    const { shared, init, openOutput, programs } = this.#deps;
    const output = new PluginOutput(openOutput(name), shared.ports.clock);
    const peer: PluginPeer = new PluginPeer({
      name,
      transport: transportOf(socket),
      codec: jsonCodec,
      shared,
      output,
      init: init(programs().get(name)?.options ?? {}, []),
      mayAnswer: () => answering !== undefined && this.#mayAnswer(name),
      process: () => (answering ? { program: { pid: answering.pid, command: answering.command } } : {}),
      ended: (end) => this.#detach(peer, socket, output, end),
    });
    output.note('info', `${name} ${version} is attached.`);
    this.#add({ name, version, listens: false, answering, peer, socket });
    return peer;
  }

  /** An outside agent can request notifications, but nothing else that plugins can. */
  #listen(
    { listener: agent, version, session, client }: Attach & { readonly listener: string },
    listeners: Listeners,
    socket: Socket,
  ): AttachedPeer {
    const { shared, init, tools = NO_TOOLS } = this.#deps;
    const { clock, logger } = shared.ports;
    const peer: ListenerPeer = new ListenerPeer({
      identity: { agent, session, client },
      listeners,
      transport: transportOf(socket),
      clock,
      logger,
      init: { ...init({}, []), config: {} },
      ...tools,
      ended: (end) => this.#detach(peer, socket, undefined, end),
    });
    return this.#add({ name: agent, version, listens: true, passing: session !== undefined, peer, socket });
  }

  #detach(peer: AttachedPeer, socket: Socket, output: PluginOutput | undefined, end: PluginEnd): void {
    output?.note(end.failure === undefined ? 'info' : 'warn', end.failure ?? describeEnd(end));
    void this.#flushed(peer)
      .then(() => socket.end())
      .catch((error: unknown) => this.#deps.shared.ports.logger.error('a program could not be detached', error));
  }

  #add(program: Omit<AttachedProgram, 'closed'>): AttachedPeer {
    const { promise: closed, resolve } = Promise.withResolvers<void>();
    const { peer, socket, passing } = program;
    const changed = () => passing === true || this.#deps.changed();
    const attached: AttachedProgram = { ...program, closed };
    this.#attached.add(attached);
    socket.on('close', () => {
      peer.dispose();
      this.#attached.delete(attached);
      resolve();
      changed();
    });
    changed();
    return peer;
  }
}

/** Passes everything that is received on to the peer. */
function follow(socket: Socket, peer: AttachedPeer): void {
  socket.on('data', (data) => peer.receive(typeof data === 'string' ? Buffer.from(data) : data));
  for (const event of ['end', 'close']) socket.on(event, () => peer.closed(NO_EXIT));
  socket.resume();
}

function transportOf(socket: Socket): PluginTransport {
  return {
    write: (bytes, accepted) => void socket.write(bytes, (error) => accepted(error ?? undefined)),
    pause: () => void socket.pause(),
    resume: () => void socket.resume(),
  };
}

function encodeRefusal(message: string): string {
  return jsonCodec.encode({ type: 'error', request: 'attach', message });
}

/** The id in a line of `earshot-notify`; undefined: it is another line. */
function readSpooled(line: string): string | undefined {
  const value = parseObject(line);
  return value?.['type'] === 'spooled' && typeof value['id'] === 'string' ? value['id'] : undefined;
}

/** The request, or why the line is not a valid `attach`. */
function readAttach(line: string): Attach | string {
  const value = parseObject(line);
  if (value === undefined) return 'The first line is not a JSON object.';
  const parsed = attachSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  return `The first line must be {"type":"attach","name","version"}: ${describeIssue(parsed.error)}.`;
}
