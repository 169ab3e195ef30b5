// What a hub assumes, after each connect, about the part of the stream that it has already received.
import { mkdtemp, rm } from 'node:fs/promises';
import sqlite from 'node:sqlite';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { expect, test } from 'vitest';
import { toNanos } from '../../../../src/hub/nats/inbox.ts';
import { LinkState } from '../../../../src/hub/nats/linkState.ts';
import { checkStream } from '../../../../src/hub/nats/natsSession.ts';
import { createManualClock } from '../../../support/manualClock.ts';
import { hasNatsServer, NatsServer } from '../../../support/nats/natsServer.ts';
import { recordOf } from '../../../support/nats/rawRecords.ts';

const stream = 'EAR_team';

test.skipIf(!hasNatsServer)(
  'everything is received again if another message has the sequence number of the last one received',
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'earshot-state-'));
    const server = await NatsServer.start(['alpha']);
    const connection = await server.connectAs('alpha');
    const failures: unknown[] = [];
    const report = (_message: string, error: unknown) => failures.push(error);
    const state = LinkState.open(join(folder, 'state.sqlite'), { sqlite, clock: createManualClock(), report });
    try {
      const manager = await jetstreamManager(connection);
      for (const text of ['a1', 'a2']) {
        const record = recordOf('amber', text);
        const data = JSON.stringify(record);
        await jetstream(connection).publish('ear.team.msg.alpha.amber._', data, { msgID: record.event_id });
      }
      const { created, state: found } = await manager.streams.info(stream);
      const check = () =>
        checkStream(manager, stream, { created, firstSeq: found.first_seq, lastSeq: found.last_seq }, state);
      await check();
      const last = await manager.streams.getMessage(stream, { seq: 2 });
      const received = { seq: 2, time: toNanos(last?.timestamp ?? '') };
      state.setPosition(received);
      await check();
      expect(state.position).toEqual(received);
      for (const other of [
        { seq: 2, time: received.time + 1_000_000 },
        { seq: 3, time: received.time },
      ]) {
        state.setPosition(other);
        await check();
        expect(state.position).toEqual({ seq: 0, time: 0 });
      }
      expect(failures).toEqual([]);
    } finally {
      state.close();
      await connection.close();
      await server.stop();
      await rm(folder, { recursive: true });
    }
  },
);
