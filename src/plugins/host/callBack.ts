// Connects to a program that wants to answer approvals, and finds out which process it is. The whole protocol is then
// spoken over this connection, so that no other process can use it by passing lines on.
import { connect, type Socket } from 'node:net';
import { type Clock } from '../../base/clock.ts';
import { failed, type Result, succeeded } from '../../base/errors.ts';
import { isOfCommand, type PeerProcess, peerOf } from '../../node/peerProcess.ts';
import { type CallBack } from '../../protocol/plugin.ts';

/** How long the program may take to accept the connection. */
const ACCEPTS_WITHIN = 5000;

interface CalledBack {
  readonly socket: Socket;
  readonly process: PeerProcess;
  /** Tells the program that it is attached by this connection. */
  confirm(): void;
}

/** Fails if the process cannot be determined or belongs to a command of Earshot; then the program may only watch. */
export async function callBack({ port, secret }: CallBack, clock: Clock): Promise<Result<CalledBack>> {
  const socket = connect({ host: '127.0.0.1', port, allowHalfOpen: true, noDelay: true });
  const refuse = (reason: string) => {
    socket.destroy();
    return failed('not_approved', reason);
  };
  if (!(await isAccepted(socket, clock))) return refuse('It did not accept the window’s connection.');
  const process = await peerOf(socket);
  if (process === undefined) return refuse('Its process cannot be determined.');
  if (isOfCommand(process.pid)) {
    return refuse(`A command of Earshot started it (process ${process.pid}: ${process.command}).`);
  }
  return succeeded({
    socket,
    process,
    confirm: () => void socket.write(`${JSON.stringify({ type: 'attached', secret })}\n`),
  });
}

/** The program sends a line feed once it has accepted: before that, no process has the connection. */
function isAccepted(socket: Socket, clock: Clock): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = clock.after(ACCEPTS_WITHIN, () => end(false));
    const failedToConnect = () => end(false);
    const end = (accepted: boolean) => {
      timer.dispose();
      socket.off('close', failedToConnect);
      resolve(accepted);
    };
    socket.on('error', () => socket.destroy());
    socket.once('close', failedToConnect);
    socket.once('data', () => {
      socket.pause();
      end(true);
    });
  });
}
