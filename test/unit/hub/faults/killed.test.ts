// The hub program is killed under load repeatedly. Senders repeat what was not answered.
import { expect, test } from 'vitest';
import { HubUnderFaults } from '../../../support/hub/hubUnderFaults.ts';
import { runs } from '../../../support/runs.ts';

const KILLS = runs(20, 200);
const SENDERS = ['amber', 'birch', 'cedar', 'dove', 'egret', 'finch', 'grebe', 'heron'];

test(
  `the hub is killed under load ${KILLS} times: no message is lost, doubled or out of order`,
  async () => {
    const hub = await HubUnderFaults.create();
    let killed = 0;
    try {
      const sending = SENDERS.map((name) => hub.sendAs(name, () => killed >= KILLS));
      while (killed < KILLS) {
        const started = hub.start();
        // Every fifth time during the start or shortly after it, otherwise after some acknowledgements.
        if (killed % 5 === 4) await new Promise((later) => setTimeout(later, Math.random() * 300));
        else if (await started) await hub.acknowledgements(1 + Math.floor(Math.random() * 120));
        await hub.kill();
        await started;
        killed += 1;
      }
      await hub.start();
      await Promise.all(sending);
      await hub.check();
      expect(hub.acknowledged.size).toBeGreaterThan(KILLS * 10);
      expect(hub.repeated).toBeGreaterThan(KILLS / 2);
    } finally {
      await hub.remove();
    }
  },
  KILLS * 30_000,
);
