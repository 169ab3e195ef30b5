// UI texts about the server that joins the hubs of several machines: what was not sent, why, and what to do.
import { type HubState } from '../../hub/client/hubState.ts';
import { type LinkHealth } from '../../protocol/hub.ts';
import { type Obstacle } from '../../protocol/webview.ts';

/** `vscode.l10n.t`. */
export type Translate = (text: string, ...values: (string | number)[]) => string;

/** Messages have the time of their author's clock: the user is warned if it differs more than this. */
const CLOCK_TOLERANCE = 60_000;

/** The icon of the status bar item; undefined if nothing is wrong. */
export function linkIcon(link: LinkHealth | undefined): string | undefined {
  if (link === undefined || isFine(link)) return undefined;
  return link.server.state === 'connecting' ? '$(debug-disconnect)' : '$(warning)';
}

/** Lines of the status bar item's tooltip. */
export function linkLines(link: LinkHealth | undefined, t: Translate): string[] {
  if (link === undefined) return [];
  if (isFine(link)) return [t('Joined with the agents of other machines.')];
  return [headline(link, t), ...unsentLines(link, t)];
}

/** Obstacles above the transcript, if the user must act or messages cannot be sent. */
export function linkObstacles(link: LinkHealth | undefined, t: Translate): Obstacle[] {
  if (link === undefined || isFine(link)) return [];
  const { server, not_sent: count } = link;
  if (server.state === 'connecting' && (server.error === undefined || count === 0)) return [];
  const [why, nextStep] = reasonAndStep(link, t);
  return [
    {
      level: server.state === 'connecting' ? 'info' : 'warning',
      text: [headline(link, t), ...unsentLines(link, t), why].filter((part) => part !== '').join(' '),
      ...(nextStep !== '' && { nextStep }),
      action: { label: t('Open settings'), message: { type: 'open_settings' } },
    },
  ];
}

export interface StateRow {
  readonly label: string;
  readonly description?: string;
  readonly detail?: string;
  /** What choosing the row opens. */
  readonly opens?: 'settings' | 'log';
}

/** Rows of “Show Hub State”. `pid` is the id of this process. */
export function stateRows({ link, agents, messages, pid: server }: HubState, pid: number, t: Translate): StateRow[] {
  const here = agents.filter(({ machine }) => machine === undefined);
  const count = { label: agentCount(agents.length, t), description: messageCount(messages, t) };
  return [
    {
      label:
        server === pid ? t('$(server) This window runs the hub') : t('$(server) The hub runs in process {0}', server),
      description: `${count.label} · ${count.description}`,
    },
    ...machineRows(link, t),
    ...[...here, ...agents.filter(({ machine }) => machine !== undefined)].map((agent) => agentRow(agent, t)),
    { label: t('$(output) Show log'), opens: 'log' },
  ];
}

function machineRows(link: LinkHealth | undefined, t: Translate): StateRow[] {
  if (link === undefined) {
    return [
      {
        label: t('$(circle-slash) Not joined with other machines'),
        detail: t('To join the agents of several machines, set earshot.hub.server and earshot.hub.name.'),
        opens: 'settings',
      },
    ];
  }
  const { server, not_sent: count } = link;
  const [why, nextStep] = reasonAndStep(link, t);
  const detail = [why, nextStep].filter((part) => part !== '').join(' ');
  const icon = linkIcon(link) ?? '$(cloud)';
  return [
    {
      label: `${icon} ${isFine(link) ? t('Joined with the agents of other machines.') : headline(link, t)}`,
      description: t('since {0}', new Date(server.since).toLocaleTimeString()),
      ...(detail !== '' && { detail }),
      opens: 'settings',
    },
    {
      label: `$(arrow-up) ${unsentLines(link, t)[0] ?? t('Everything has reached the server.')}`,
      ...(count > 0 && { detail: t('They are stored on this machine and are sent as soon as possible.') }),
    },
    ...clockRows(server.clock_ahead_ms ?? 0, t),
  ];
}

function clockRows(ahead: number, t: Translate): StateRow[] {
  if (Math.abs(ahead) < CLOCK_TOLERANCE) return [];
  const minutes = Math.round(Math.abs(ahead) / 60_000);
  return [
    {
      label:
        ahead > 0
          ? t('$(watch) The clock of this machine is {0} min ahead of the server’s', minutes)
          : t('$(watch) The clock of this machine is {0} min behind the server’s', minutes),
      detail: t('Nothing is lost, but the times of messages are misleading. Correct the clock.'),
    },
  ];
}

function agentRow(
  { agent_id: name, display, machine, live, last_seen_at: seen }: HubState['agents'][number],
  t: Translate,
): StateRow {
  const where = machine ?? t('this machine');
  const when = live ? t('connected') : t('last seen {0}', new Date(seen).toLocaleString());
  return { label: `$(person) ${name}`, description: `${where} · ${when}`, ...(display !== '' && { detail: display }) };
}

function isFine({ server, stream_full: full }: LinkHealth): boolean {
  return server.state === 'connected' && !full;
}

function headline({ server }: LinkHealth, t: Translate): string {
  switch (server.state) {
    case 'connected':
      return t('The server that joins machines is full.');
    case 'connecting':
      return t('Not connected with other machines.');
    case 'refused':
      return t('The server that joins machines is not used.');
  }
}

function unsentLines({ not_sent: count }: LinkHealth, t: Translate): string[] {
  if (count === 0) return [];
  return [
    count === 1
      ? t('1 message has not reached other machines yet.')
      : t('{0} messages have not reached other machines yet.', count),
  ];
}

/** Splits the hub's error text: its first sentence says what is wrong, the others what to do. */
function reasonAndStep({ server, stream_full: full }: LinkHealth, t: Translate): [why: string, nextStep: string] {
  if (server.error === undefined) {
    if (!full) return ['', ''];
    return ['', t('Ask the administrator of the server to enlarge the stream with hub.js --set-up --max-bytes.')];
  }
  const text = `${server.error.slice(0, 1).toUpperCase()}${server.error.slice(1)}`;
  const end = text.indexOf('. ');
  return end === -1 ? [text, ''] : [text.slice(0, end + 1), text.slice(end + 2)];
}

function agentCount(count: number, t: Translate): string {
  return count === 1 ? t('1 agent') : t('{0} agents', count);
}

function messageCount(count: number, t: Translate): string {
  return count === 1 ? t('1 message') : t('{0} messages', count);
}
