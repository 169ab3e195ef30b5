// Lines that a search showed count as read, in the real editor: a change of one is reported, a change of others is not.
import * as assert from 'node:assert/strict';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { call, inFolder, type Listening, useListening } from '../../support/vscode/listeningConversation.ts';
import { checkLeaks } from '../../support/vscode/startedExtension.ts';

const TEXT = ['one', 'two', 'needle here', 'four', 'five', 'six', ''].join('\n');
let number = 0;

describe('searched lines', function () {
  this.timeout(120_000);
  const listening = useListening();
  checkLeaks('each');
  let agent: Listening;
  let folder: string;

  beforeEach(async () => {
    folder = `searched${++number}`;
    await mkdir(inFolder(folder), { recursive: true });
    for (const name of ['shown.txt', 'other.txt']) await write(name, TEXT);
    agent = await listening.begin();
  });
  afterEach(() => rm(inFolder(folder), { recursive: true, force: true }));

  const write = (name: string, text: string) => writeFile(inFolder(`${folder}/${name}`), text);

  /** Another program changes a line that was not shown in one file, and then a shown line in the other. */
  async function expectOnlyShownLine(): Promise<void> {
    await write('other.txt', TEXT.replace('five', 'FIVE'));
    await write('shown.txt', TEXT.replace('needle here', 'needle there'));
    await agent.waitForPending(new RegExp(`^file.changed ${folder}/shown.txt changed since you read it`));
    const delivered = await agent.turn(call('run_command', { command: 'true' }));
    assert.match(JSON.stringify(agent.log.state.messages.all), /\+needle there/);
    assert.doesNotMatch(JSON.stringify(agent.log.state.messages.all), /other\.txt changed/, delivered);
    // The other file is followed too.
    await write('other.txt', TEXT.replace('five', 'FIVE').replace('needle here', 'no needle'));
    await agent.waitForPending(new RegExp(`^file.changed ${folder}/other.txt changed since you read it`));
  }

  it('a change of a line that search showed is reported, and a change of another line is not', async () => {
    await agent.turn(call('search', { query: 'needle', path: folder }));
    await expectOnlyShownLine();
  });

  for (const command of ['grep -rn needle', 'grep -r needle', 'git grep --untracked needle --']) {
    it(`a change of a line that ${command} showed is reported, and a change of another line is not`, async () => {
      await agent.turn(call('run_command', { command: `${command} ${folder}` }));
      await expectOnlyShownLine();
    });
  }

  it('a change of the line that grep showed of one file, without its name, is reported', async () => {
    await agent.turn(call('run_command', { command: `grep needle ${folder}/shown.txt` }));
    await write('shown.txt', TEXT.replace('six', 'SIX').replace('needle here', 'needle there'));
    await agent.waitForPending(new RegExp(`^file.changed ${folder}/shown.txt changed since you read it`));
  });
});
