// The script of the recorded hour, minute by minute. Runs inside the extension host.
import { type Person } from './person.ts';

export interface Hour {
  readonly person: Person;
  /** The facts that follow belong to this step. */
  step(label: string): void;
  colleaguePushes(): Promise<void>;
}

/** The minute at which each step begins. */
type Plan = readonly (readonly [minute: number, label: string, act: (hour: Hour) => Promise<unknown>])[];

export async function workAnHour(hour: Hour): Promise<void> {
  for (const [minute, label, act] of PLAN) {
    await hour.person.until(minute);
    hour.step(label);
    await act(hour);
  }
  await hour.person.until(60);
}

const PLAN: Plan = [
  [
    0.2,
    'looks around',
    async ({ person }) => {
      for (const path of ['src/orders.ts', 'src/stock.ts', 'src/menu.ts', 'README.md']) await person.reads(path, 15);
    },
  ],
  [
    2,
    'writes a function in a file that was read, in three saves',
    async ({ person }) => {
      await person.types(
        'src/orders.ts',
        '\nexport function count(lines: readonly Line[]): number {\nreturn lines.length ;\n}\n',
      );
      await person.saves();
      await person.types('src/orders.ts', 'lines.reduce((sum, line) => sum + line.count, 0)', {
        instead: 'lines.length',
      });
      await person.saves();
      await person.types('src/orders.ts', '/** Of all lines. */\n', { behind: '}\n\n' });
      await person.saves();
    },
  ],
  [5, 'builds by the task', ({ person }) => person.runsTask('build')],
  [6, 'runs the tests', ({ person }) => person.runs('npm test')],
  [
    7,
    'saves equal bytes',
    async ({ person }) => {
      await person.types('src/menu.ts', ' ');
      await person.undoes();
      await person.saves();
      await person.runs('touch src/prices.ts');
    },
  ],
  [
    8,
    'saves files that were not read',
    async ({ person }) => {
      await person.types('src/stock.ts', '\nexport function isOut(item: Item): boolean {\nreturn left(item)===0;\n}\n');
      await person.saves();
      await person.types('src/customers.ts', '\nexport const nobody: Customer = { name: "", visits: 0 };\n');
      await person.saves();
    },
  ],
  [10, 'lets the formatter go over everything', ({ person }) => person.runs('npm run format')],
  [11, 'commits', ({ person }) => person.runs('git add -A && git commit -qm "Count lines"')],
  // A short interruption.
  [
    15,
    'starts the watcher and makes a type error in a file that was read',
    async ({ person }) => {
      await person.runsTask('watch', true);
      await person.types(
        'src/prices.ts',
        '\nexport function euros(item: Item): string {\nreturn price(item) / 100;\n}\n',
      );
      await person.saves();
    },
  ],
  [17, 'sees the build fail', ({ person }) => person.runsTask('build')],
  [
    18.5,
    'fixes the type error',
    async ({ person }) => {
      await person.types('src/prices.ts', '(price(item) / 100).toFixed(2)', { instead: 'price(item) / 100' });
      await person.saves();
    },
  ],
  [20, 'builds again', ({ person }) => person.runsTask('build')],
  [21, 'stops the watcher', ({ person }) => person.stops('watch')],
  [
    22,
    'makes a file and a test for it',
    async ({ person }) => {
      await person.makes(
        'src/discount.ts',
        "import { type Line, total } from './orders.js';\n\nexport function discount(lines: readonly Line[]): number {\nreturn total(lines) > 2000 ? 200 : 0;\n}\n",
      );
      await person.saves();
      await person.types('test/orders.test.js', "import { discount } from '../dist/discount.js';\n", {
        behind: "'../dist/orders.js';\n",
      });
      await person.types(
        'test/orders.test.js',
        "\ntest('a discount', () => {\nassert.equal(discount([{ item: 'assam', count: 6 }]), 20);\n});\n",
      );
      await person.saves();
    },
  ],
  [
    25,
    'sees the tests fail',
    async ({ person }) => {
      await person.runs('npm run build');
      await person.runs('npm test');
    },
  ],
  [
    26,
    'fixes the test',
    async ({ person }) => {
      await person.types('test/orders.test.js', '200)', { instead: '20)' });
      await person.saves();
      await person.runs('npm test');
    },
  ],
  [28, 'commits', ({ person }) => person.runs('git add -A && git commit -qm "A discount"')],
  [
    29,
    'switches to the feature’s branch',
    async ({ person }) => {
      await person.runs('git switch feature');
      await person.reads('src/stock.ts', 40);
    },
  ],
  [31, 'switches back', ({ person }) => person.runs('git switch main')],
  [
    32,
    'begins something in a file that was read',
    async ({ person }) => {
      await person.types('src/receipt.ts', '\nexport const thanks = "Come again.";\n');
      await person.saves();
    },
  ],
  [33.5, 'stashes it away', ({ person }) => person.runs('git stash')],
  [35, 'pops the stash', ({ person }) => person.runs('git stash pop')],
  [36, 'discards it', ({ person }) => person.runs('git checkout src/receipt.ts')],
  // Lunch.
  [
    41,
    'pulls what a colleague pushed',
    async ({ person, colleaguePushes }) => {
      await colleaguePushes();
      await person.runs('git pull -q --no-rebase --no-edit');
    },
  ],
  [
    43,
    'builds by the task, and tests',
    async ({ person }) => {
      await person.runsTask('build');
      await person.runs('npm test');
    },
  ],
  [45, 'renames a file that was not read', ({ person }) => person.renames('src/customers.ts', 'src/guests.ts')],
  [
    47,
    'installs a dependency',
    ({ person }) => person.runs('npm install --offline --no-audit --no-fund --install-links ./vendor/strainer'),
  ],
  [
    49,
    'writes of it in a file that was read',
    async ({ person }) => {
      await person.types('README.md', '\nThe strainer is in `vendor`: install it from there.\n');
      await person.saves();
    },
  ],
  [51, 'builds everything anew', ({ person }) => person.runs('rm -rf dist && npm run build')],
  [
    52,
    'runs the tests with their coverage',
    ({ person }) => person.runs('mkdir -p coverage && npm test -- --experimental-test-coverage > coverage/report.txt'),
  ],
  [54, 'commits', ({ person }) => person.runs('git add -A && git commit -qm "A strainer"')],
  [55, 'merges the feature', ({ person }) => person.runs('git merge -q --no-edit feature')],
  [
    57,
    'builds by the task, and tests',
    async ({ person }) => {
      await person.runsTask('build');
      await person.runs('npm test');
    },
  ],
];
