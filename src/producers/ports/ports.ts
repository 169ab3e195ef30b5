// Reports to the owner of a background command that it listens on a port, once for each port.
import { type Clock, type Logger, type Producer } from '../../core/ports/ports.ts';
import { KINDS } from '../../protocol/kinds.ts';
import { type NotificationDraft } from '../../protocol/notification.ts';
import { handleScope } from '../../protocol/scopes.ts';
import { type OpenPort, type OpenPorts } from './openPorts.ts';

export interface PortsDeps {
  readonly ports: Pick<OpenPorts, 'follow'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

export function createPortsProducer({ ports, clock, logger }: PortsDeps): Producer {
  return {
    name: 'ports',
    start: (publisher) => {
      /** A server that restarts opens its port again; that is no news. */
      const reported = new Set<string>();
      return ports.follow({
        opened: (port) => {
          const { conversation, run } = port.handle;
          const key = `${conversation} ${run} ${port.port}`;
          if (reported.has(key)) return;
          reported.add(key);
          void publisher
            .publish({ ...draftOpened(port), at: new Date(clock.now()).toISOString() }, conversation)
            .catch((error: unknown) => logger.error('an open port could not be reported', error));
        },
        closed: () => undefined,
      });
    },
  };
}

function draftOpened({ port, pid, everywhere, handle }: OpenPort): Omit<NotificationDraft, 'at'> {
  const { level, origin } = KINDS['port.opened'];
  const where = everywhere ? ', also for other machines' : '';
  return {
    ...{ kind: { source: 'port', name: 'opened' }, level, origin, subject: `port:${port}` },
    message: `Your background command “${handle.name}” listens on port ${port}${where} (pid ${pid}).`,
    scopes: [handleScope(handle.name)],
    // After a restart of the window the same port is found again.
    data: { state: `${handle.run} ${pid}` },
  };
}
