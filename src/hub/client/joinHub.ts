// Joins the hub of a folder: serves it if no other process does.
import { join } from 'node:path';
import { type FileSystem } from '../../node/files/fileSystem.ts';
import { hubFolder, socketHome } from '../../node/hubFolder.ts';
import { type HubAddress } from '../../protocol/hub.ts';
import { ADDRESS_FILE, type HubServerDeps, startHubServer } from '../hubServer.ts';
import { joinByServer } from '../nats/join.ts';
import { type JoinInput, settingLabel } from '../nats/joinOptions.ts';
import { connectToHub, readAddress } from './hubConnection.ts';
import { HubMember } from './hubMember.ts';
import { HEALTH_PUSH, LinkWatch } from './linkWatch.ts';

/** The pid in `hub.json` for a hub behind a forwarded socket. */
const ELSEWHERE = 0;

export interface MembershipDeps extends Omit<HubServerDeps, 'sqlite' | 'folder' | 'join' | 'linkChanged'> {
  /** Absent: this process can join a hub but cannot serve one. */
  readonly sqlite: HubServerDeps['sqlite'] | undefined;
  /** The folder of the workspace. */
  readonly workspaceFolder: string;
  readonly home?: string;
  /** The settings that join this hub with those of other machines. */
  readonly machines?: JoinInput;
}

export interface Membership {
  readonly folder: string;
  readonly member: HubMember;
  /** The state of the link to other machines. */
  readonly link: LinkWatch;
}

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
      const joined = await joinByServer(machines, settingLabel, { tryLock });
      return startHubServer({ ...deps, sqlite, folder, join: joined, linkChanged: (health) => link.set(health) });
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

/** Makes the agents of a folder join the hub behind a socket that SSH forwards. Returns the path of `hub.json`. */
export async function useForwardedSocket(files: FileSystem, folder: string, socket: string): Promise<string> {
  const address: HubAddress = { version: 1, pid: ELSEWHERE, socket, web_socket: '', token: '' };
  await files.makeFolder(folder);
  const path = join(folder, ADDRESS_FILE);
  await files.writeWhole(path, Buffer.from(`${JSON.stringify(address)}\n`));
  return path;
}
