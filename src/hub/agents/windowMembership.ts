// A window as a member of its folder's hub: serves it if no other process does, and makes its conversations agents.
import { userInfo } from 'node:os';
import { join } from 'node:path';
import type * as sqliteModule from 'node:sqlite';
import { type Clock } from '../../base/clock.ts';
import { type FileSystem } from '../../node/files/fileSystem.ts';
import { hubFolder, socketHome } from '../../node/hubFolder.ts';
import { type TryLock } from '../../node/kernelLock.ts';
import { type HubAddress } from '../../protocol/hub.ts';
import { connectToHub, readAddress } from '../client/hubConnection.ts';
import { HubMember } from '../client/hubMember.ts';
import { type HubState, readHubState } from '../client/hubState.ts';
import { HEALTH_PUSH, LinkWatch } from '../client/linkWatch.ts';
import { type HubIdentity } from '../hubContext.ts';
import { ADDRESS_FILE, startHubServer } from '../hubServer.ts';
import { joinByServer } from '../nats/join.ts';
import { type JoinInput, settingLabel } from '../nats/joinOptions.ts';
import { ConversationAgents } from './conversationAgents.ts';
import { UserAgent } from './userAgent.ts';

/** The pid in `hub.json` for a hub behind a forwarded socket. */
const ELSEWHERE = 0;

export interface MembershipDeps {
  readonly files: FileSystem;
  readonly clock: Clock;
  readonly tryLock: TryLock;
  /** Absent: this process can join a hub but cannot serve one. */
  readonly sqlite: typeof sqliteModule | undefined;
  /** The folder of the workspace. */
  readonly workspaceFolder: string;
  readonly home?: string;
  readonly version: string;
  readonly port: number;
  readonly identity?: HubIdentity | undefined;
  readonly allowedOrigins: readonly string[];
  /** The settings that join this hub with those of other machines. */
  readonly machines?: JoinInput;
  ulid(): string;
  report(message: string, error?: unknown): void;
}

export interface Membership {
  readonly folder: string;
  readonly member: HubMember;
  /** The state of the link to other machines. */
  readonly link: LinkWatch;
}

export interface WindowMembership {
  readonly agents: ConversationAgents;
  /** On the hub as long as the window is, so that agents can write to the user at any time. */
  readonly user: UserAgent;
  readonly member: HubMember;
  readonly link: LinkWatch;
  /** Asks the hub once. Undefined: no process serves it at present. */
  readState(): Promise<HubState | undefined>;
  /** Leaves the hub. If this process serves it, resolves once all is on disk and another process can take over. */
  close(): Promise<void>;
}

/** Joins the hub of a folder, for a program with its own agents. */
export async function joinHub(deps: MembershipDeps): Promise<Membership> {
  const { sqlite, files, clock, report, workspaceFolder, home = socketHome() } = deps;
  const folder = await hubFolder(workspaceFolder, home);
  const link = new LinkWatch((error) => report('a listener failed', error));
  const member = new HubMember({
    clock,
    report,
    serve: async () => {
      const address = await readAddress(files, folder);
      // The hub is on another machine: serving one here would separate the agents while the connection is down.
      if (sqlite === undefined || address?.pid === ELSEWHERE) return undefined;
      const { tryLock, machines = { server: '' } } = deps;
      const join = await joinByServer(machines, settingLabel, { tryLock });
      return startHubServer({ ...deps, sqlite, folder, join, linkChanged: (health) => link.set(health) });
    },
    follow: async () => {
      const address = await readAddress(files, folder);
      if (address === undefined) return undefined;
      const connection = await connectToHub(
        address,
        (method, params) => {
          if (method === HEALTH_PUSH) link.receive(params);
        },
        (error) => report('the hub sent something unreadable', error),
      );
      link.follow(connection);
      return connection;
    },
  });
  await member.start();
  return { folder, member, link };
}

export async function joinAsWindow(
  deps: MembershipDeps & { readonly role: string; toScope(path: string): string },
): Promise<WindowMembership> {
  const { folder, member, link } = await joinHub(deps);
  const onAbsent = () =>
    void member.look().catch((error: unknown) => deps.report('the hub could not be taken over', error));
  const agents = new ConversationAgents({ ...deps, folder, onAbsent });
  const user = new UserAgent({ ...deps, folder, userName: userInfo().username, onAbsent });
  return {
    agents,
    user,
    member,
    link,
    readState: () => readHubState(deps.files, folder),
    close: async () => {
      link.dispose();
      user.dispose();
      agents.dispose();
      await member.close();
    },
  };
}

/** Makes the agents of a folder join the hub behind a socket that SSH forwards. Returns the path of `hub.json`. */
export async function useForwardedSocket(files: FileSystem, folder: string, socket: string): Promise<string> {
  const address: HubAddress = { version: 1, pid: ELSEWHERE, socket, web_socket: '', token: '' };
  await files.makeFolder(folder);
  const path = join(folder, ADDRESS_FILE);
  await files.writeWhole(path, Buffer.from(`${JSON.stringify(address)}\n`));
  return path;
}
