// Turns timers and conditions on and off like any other source, and looks whether something listens on a port.
import { connect } from 'node:net';
import { type Producer } from '../core/ports/ports.ts';
import { type Wakes } from '../core/wakes/wakes.ts';

/** While it is off, nothing fires; what is due fires when it is on again. */
export function createWakesProducer(wakes: Pick<Wakes, 'start'>): Producer {
  return { name: 'wakes', start: () => wakes.start() };
}

const HOSTS = ['127.0.0.1', '::1'] as const;
const MILLISECONDS = 1000;

/** Connects and ends the connection at once; nothing is sent. Only for ports that a condition names. */
export async function probePort(port: number): Promise<boolean> {
  return (await Promise.all(HOSTS.map((host) => accepts(host, port)))).includes(true);
}

function accepts(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: MILLISECONDS });
    const end = (accepted: boolean) => () => {
      socket.destroy();
      resolve(accepted);
    };
    socket.once('connect', end(true)).once('error', end(false)).once('timeout', end(false));
  });
}
