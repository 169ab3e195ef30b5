// Problems caused by another program soon after a file was read, in the real editor with its real TypeScript server.
import * as assert from 'node:assert/strict';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import * as vscode from 'vscode';
import { inFolder, type Listening, useListening } from '../../support/vscode/listeningConversation.ts';
import { checkLeaks } from '../../support/vscode/startedExtension.ts';

let number = 0;

describe('early problems', function () {
  this.timeout(120_000);
  const listening = useListening();
  checkLeaks('each');
  let agent: Listening;
  /** A different folder for each test, because the server remembers files for a while. */
  let folder: string;

  beforeEach(async () => {
    folder = `early${++number}`;
    await mkdir(inFolder(folder), { recursive: true });
    await write('shape.ts', 'export const size: number = 1;\n');
    await write('user.ts', "import { size } from './shape.ts';\nexport const twice: number = size * 2;\n");
    agent = await listening.begin();
  });
  afterEach(() => rm(inFolder(folder), { recursive: true, force: true }));

  const write = (name: string, text: string) => writeFile(inFolder(`${folder}/${name}`), text);

  /** Another program writes a file that is not open in a tab and was not read. */
  const breakShape = () => write('shape.ts', 'export const size: string = "1";\n');

  async function expectProblemOfUser(): Promise<void> {
    await agent.waitForPending(new RegExp(`^diagnostics.introduced ${folder}/user.ts has 1 (new )?problem`));
    assert.equal(agent.pendingLines.filter((one) => one.includes(`${folder}/user.ts`)).length, 1);
  }

  it('a problem caused by another file right after the read is reported, if the read file is in no tab', async () => {
    await agent.read(`${folder}/user.ts`);
    await breakShape();
    await expectProblemOfUser();
  });

  it('a problem caused by another file right after the read is reported, if the read file is in a tab', async () => {
    await vscode.commands.executeCommand('vscode.open', vscode.Uri.file(inFolder(`${folder}/user.ts`)));
    await agent.read(`${folder}/user.ts`);
    await breakShape();
    await expectProblemOfUser();
  });
});
