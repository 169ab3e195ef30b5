// Every word that the page says, in one place, so that it can be translated.

import type { FileDiff } from '../protocol/diffView.ts';
import type { HandleView } from '../protocol/handlesView.ts';
import type { Level } from '../protocol/notification.ts';
import type { TodoItem } from '../protocol/todo.ts';
import type { ToolState } from '../protocol/transcript.ts';
import type { HeldReason } from '../protocol/webview.ts';

const ANNOUNCED = 600;

function fileSize(bytes: number): string {
  if (bytes < 1024) return `${bytes} ${bytes === 1 ? 'byte' : 'bytes'}`;
  const [size, unit] = bytes < 1024 * 1024 ? [bytes / 1024, 'KB'] : [bytes / 1024 / 1024, 'MB'];
  return `${size < 10 ? size.toFixed(1) : Math.round(size)} ${unit}`;
}

export const strings = {
  transcript: 'Conversation',
  you: 'You',
  earshot: 'Earshot',
  automatedEvent: 'Automated event',
  thinking: 'Thinking',
  thought: 'Thoughts',
  working: 'Working…',
  truncated: 'The answer was cut off before its end.',
  copy: 'Copy',
  copied: 'Copied',
  copyAnswer: 'Copy answer',
  code: 'Code',
  table: 'Table',
  taskDone: 'Done',
  taskOpen: 'To do',
  output: 'Output',
  noOutput: 'No output',
  arguments: 'Arguments',
  command: 'Command',
  noArguments: 'No arguments',
  showEarlier: (count: number) => `Show earlier (${count})`,
  scrollToBottom: 'Scroll to the newest',
  loading: 'Loading the conversation…',
  itemFailed: 'This item could not be drawn. Its text is still there.',
  itemText: 'Show text',
  pageFailed: 'The chat could not be drawn and was restarted several times without success.',
  pageFailedNext:
    'Your conversation is saved and a running turn goes on. Restart the chat, or open another conversation with Earshot: Open Conversation. Earshot: Show Log has the details.',
  restartPage: 'Restart Chat',

  states: {
    approval: 'Needs approval',
    question: 'Needs an answer',
    writing: 'Writing',
    running: 'Running',
    done: 'Done',
    failed: 'Failed',
    rejected: 'Rejected',
    interrupted: 'Interrupted',
  } satisfies Record<ToolState, string>,

  levels: { info: 'Information', warning: 'Warning', error: 'Error', critical: 'Critical' } satisfies Record<
    Level,
    string
  >,

  verbs: {
    read: 'Read',
    list: 'List files',
    search: 'Search for',
    edit: 'Edit',
    patch: 'Patch',
    write: 'Write',
    move: 'Move',
    delete: 'Delete',
    run: 'Run',
    runTask: 'Run task',
    handle: {
      list: 'List background commands',
      fetch: 'Look at',
      apply: 'Type into',
      abort: 'Stop',
    } as Readonly<Record<string, string>>,
    await: 'Wait for background commands',
    diagnostics: 'Check problems',
    fetch: 'Fetch',
    todo: 'Update the to-do list',
    symbols: {
      definition: 'Find the definition of',
      references: 'Find uses of',
      rename: 'Rename',
      outline: 'Outline',
      find: 'Find the symbol',
    } as Readonly<Record<string, string>>,
    watch: 'Watch',
    readNotifications: 'Read notifications',
    ask: 'Ask',
    quickFix: 'Quick fix',
  },

  handles: 'Background',
  handlesSummary: (running: number, waiting: number, all: number) => {
    const parts = [
      ...(running > 0 ? [`${running} running`] : []),
      ...(waiting > 0 ? [`${waiting} ${waiting === 1 ? 'seems' : 'seem'} to wait`] : []),
      ...(all > running + waiting ? [`${all - running - waiting} ended`] : []),
    ];
    return parts.join(' · ');
  },
  handleStates: {
    running: 'Running',
    waiting: 'Seems to wait for input',
    stopped: 'Ended',
    failed: 'Failed',
  } satisfies Record<HandleView['state'], string>,
  tellOfHandle: (name: string) => `Tell the model how ${name} stands`,
  showTerminal: (name: string) => `Show ${name} in a terminal`,
  stopHandle: (name: string) => `Stop ${name}`,
  hideHandle: (name: string) => `Take ${name} from the list`,
  outputOf: (name: string) => `Last output of ${name}`,
  moveToBackground: 'Move to background',
  moveToBackgroundTitle: 'Let the command go on as a background command, and the agent with it',
  terminal: 'Terminal',
  terminalTitle: 'Show the command in a terminal',
  openFile: 'Open the file',
  diffLabel: (path: string, added: number, removed: number) => `Changes in ${path}: ${added} added, ${removed} removed`,
  diffCounts: (added: number, removed: number) => `${added} lines added, ${removed} removed`,
  diffKinds: { created: 'new', changed: 'changed', deleted: 'deleted', moved: 'moved' } satisfies Record<
    FileDiff['kind'],
    string
  >,
  diffNotes: {
    not_text: 'Not a text file.',
    too_long: 'Too much to be compared here.',
    gone: 'What it was before is no longer kept.',
  } satisfies Record<NonNullable<FileDiff['note']>, string>,
  diffSizes: (before: number | undefined, after: number | undefined) => {
    if (before === undefined || after === undefined) {
      const size = before ?? after;
      return size === undefined ? '' : `${fileSize(size)}.`;
    }
    return `${fileSize(before)} before, ${fileSize(after)} after.`;
  },
  diffMore: (lines: number) => `Show ${lines} more ${lines === 1 ? 'line' : 'lines'}`,
  diffLess: 'Show less',
  diffCut: (lines: number) => `${lines} more lines are not shown here.`,
  previewRefused: (reason: string) => `As the files are now, this call would be refused: ${reason}`,
  previewMore: (files: number) => `${files} more ${files === 1 ? 'file is' : 'files are'} not shown here.`,
  diffEverywhere: 'Replaced wherever it is.',

  todo: 'To-do',
  todoItems: 'To-do list',
  todoCount: (done: number, all: number) => `${done} of ${all} done`,
  todoStates: { open: 'Open', doing: 'In progress', done: 'Done' } satisfies Record<TodoItem['state'], string>,

  approvalLabel: (title: string) => `Approval: ${title}`,
  approvalQuestion: {
    run_command: 'Earshot wants to run this command.',
    read_file: 'Earshot wants to read this file.',
    list_files: 'Earshot wants to list this folder.',
    write_file: 'Earshot wants to write this file.',
    edit_file: 'Earshot wants to change this file.',
    apply_patch: 'Earshot wants to change files.',
    move_file: 'Earshot wants to move this file.',
    delete_file: 'Earshot wants to delete this file.',
    run_task: 'Earshot wants to run this task.',
    quick_fix: 'Earshot wants to apply this quick fix.',
  } as Readonly<Record<string, string>>,
  approvalQuestionOther: (name: string) => `Earshot wants to use the tool ${name}.`,
  approve: 'Approve',
  approveAlways: 'Always',
  approveAlwaysTitle: (what: string) => `Approve, and do not ask again for: ${what}`,
  reject: 'Reject',
  modify: 'Modify…',
  modifyTitle: 'Change what is run',
  modifyCancel: 'Back',
  modifyRun: 'Run this',
  modifyCommand: 'Command to run instead',
  modifyArguments: 'Arguments as JSON',
  modifyNotObject: 'This is not a JSON object.',
  approvalBecause: (reason: string) => `Asked because ${reason}`,
  approvalProblem: (problem: string) => `Your change could not be taken: ${problem}`,
  answeredBy: (by: string) => `Answered by ${by.replace(/^plugin:/, 'plugin ')}`,
  rejectReason: 'Reason for rejecting (optional)',
  questionLabel: (text: string) => `Question: ${text}`,
  questionProblem: (problem: string) => `The answer could not be taken: ${problem}`,
  questionSkipped: 'Skipped: no answer was given.',
  questionUnanswered: 'No answer was given.',
  questionElsewhere: 'Waits for an answer.',
  chooseOne: 'Choose one',
  chooseSeveral: 'Choose any',
  chosen: 'chosen',
  answer: 'Answer',
  yourAnswer: 'Your answer',
  otherAnswer: 'Something else',
  skip: 'Skip',
  skipTitle: 'Go on without an answer',
  hiddenCharacters: 'Characters that cannot be seen are written as ⟨U+…⟩.',

  yourMessages: (count: number) => (count === 1 ? 'your message' : `${count} messages of yours`),
  notifications: (shown: number, total: number) => {
    const noun = total === 1 ? 'notification' : 'notifications';
    return shown < total ? `${shown} of ${total} ${noun}` : `${total} ${noun}`;
  },
  moreLabels: (count: number) => `+${count}`,
  carriedText: 'What the model was told, word for word',
  tokens: (count: number) => `≈ ${count} ${count === 1 ? 'token' : 'tokens'}`,
  receipts: { carried: 'In the log', accepted: 'The model has it' },

  changes: 'Changed files',
  filesChanged: (count: number) => (count === 1 ? '1 file changed' : `${count} files changed`),
  changesSpoken: (count: number, added: number, removed: number) =>
    `Earshot changed ${count === 1 ? '1 file' : `${count} files`}: ${added} lines added, ${removed} removed.`,
  countsSpoken: (added: number, removed: number) => `${added} added, ${removed} removed`,
  moreFiles: (count: number) => `and ${count} more: Review shows all of them`,
  changeKinds: { created: 'new', deleted: 'deleted' },
  changesClash: 'You changed the same lines since: it can be kept, but not undone as a whole.',
  changesOverwrote: 'A command overwrote changes that were not Earshot’s. Undo restores them.',
  keep: 'Keep',
  undo: 'Undo',
  review: 'Review',
  keepAllTitle: 'Keep all changes',
  undoAllTitle: 'Undo all changes',
  reviewAllTitle: 'Show all changes in the editor',
  undoWaits: 'Changes can be undone when the turn has ended',
  keepOne: (what: string) => `Keep changes of ${what}`,
  undoOne: (what: string) => `Undo changes of ${what}`,
  showChangesOf: 'Show changes of',
  partOf: (name: string) => `Show changes of ${name}, line`,
  reviewFileTitle: (what: string) => `Show changes of ${what}`,
  partsOf: (count: number, name: string) => `${count} changes of ${name}`,
  partAt: (name: string, line: number) => `${name}, line ${line}`,
  changedMeanwhile: (count: number) => (count === 1 ? '1 file changed meanwhile' : `${count} files changed meanwhile`),
  meanwhileTitle: 'Files that other programs changed while a command of Earshot ran',
  meanwhileNote: 'By other programs while a command ran. Undo leaves these files alone.',
  meanwhileSpoken: (count: number) =>
    `Other programs changed ${count === 1 ? '1 file' : `${count} files`} while a command ran.`,
  moreMeanwhile: (count: number) => `and ${count} more`,
  dismiss: 'Dismiss',
  dismissMeanwhileTitle: 'Remove these files from the list; nothing is changed',
  dismissOne: (what: string) => `Remove ${what} from the list`,
  restoreMeanwhile: (what: string) => `Restore ${what} to before the command…`,
  restoreTitle: 'Restore files to before this turn',

  helloTitle: 'Hello, I am Earshot.',
  hello: 'Tell me what you would like to do in this folder.',
  helloHears:
    'While I work I hear what happens around me: your edits, failed builds, new errors. I am told at the next moment I can listen, and you see exactly what I was told.',
  tryThis: 'Try one of these',
  suggestions: ['list the files', 'read README.md', 'run npm test'],
  /** What the built-in Guide understands besides. */
  guideSuggestions: ['tour', 'fix the problems then run task check'],
  guide: 'Guide',
  versions: (version: string, hostVersion: string) => `Earshot ${version} · VS Code ${hostVersion}`,

  composer: 'Message to Earshot',
  placeholder: 'Ask, or say what to do',
  placeholderRunning: 'Earshot is working…',
  placeholderClosed: 'Nothing can be sent right now',
  closedHint: 'Nothing can be sent right now; the message at the top says why. Your text is kept.',
  runningHint: 'Enter queues it for the next moment the model listens; Ctrl+Enter interrupts.',
  askedHint: 'Your answer is waited for: Enter queues this; it approves nothing.',
  returnedHint: 'Your queued message was not delivered. Send it, or delete it.',
  tooLong: 'This text is too long to send.',
  composerButtons: {
    send: { label: 'Send', title: 'Send (Enter)' },
    queue: { label: 'Queue', title: 'Queue for the next moment the model listens (Enter)' },
    interrupt: { label: 'Interrupt', title: 'Interrupt what goes on and say this (Ctrl+Enter)' },
    stop: { label: 'Stop', title: 'Stop the turn' },
  },
  queued: 'Queued',
  queuedList: 'Queued messages',
  takeBack: 'Take back',
  takeBackLabel: (text: string) => `Take back: ${text}`,
  attachmentList: 'Attached',
  detach: 'Remove',
  detachLabel: (name: string) => `Remove ${name}`,
  imageType: (name: string) => `${name || 'This image'} cannot be attached: models take PNG, JPEG, GIF and WebP.`,
  imageTooLarge: (name: string) => `${name || 'This image'} cannot be attached: it is larger than 10 MB.`,
  imageUnreadable: (name: string) => `${name || 'This image'} cannot be read.`,
  approvalChoice: 'What to do with this text',
  rejectWithThis: (calls: number) => (calls === 1 ? 'Reject with this reason' : `Reject all ${calls} with this reason`),
  queueInstead: 'Queue',
  meanwhile: 'You, while it worked',
  deliverNow: 'Deliver now',
  heldBack: {
    not_written: 'Something would wake the model. It waits for your first message in this window.',
    stopped: 'Something would wake the model. It waits for your next message, because you stopped the last turn.',
    error: 'Something would wake the model. It waits for your next message, because the last turn failed.',
    in_a_row: 'The model was woken five times without you. What happened since waits for your next message.',
    aborted_lately: 'Something critical happened. The model was interrupted just now, so it waits up to 30 s.',
    woken_lately: 'Something would wake the model. The same woke it just now, so it waits a little.',
    model: 'Something would wake the model. This model may only be asked when you say so.',
  } satisfies Record<HeldReason, string>,
  contextUsed: (share: number) => `${Math.round(share * 100)} %`,
  contextTitle: (share: number, tokens: number, notifications: number) =>
    `${Math.round(share * 100)} % of the context window is used; ${tokens.toLocaleString()} tokens in all, ≈ ${notifications.toLocaleString()} of them for notifications.`,
  cost: (cost: number) => cost.toFixed(cost < 1 ? 3 : 2),
  waiting: (count: number) => `${count} waiting to be told`,
  model: 'Model',

  announceAnswer: (text: string) =>
    `Earshot answered: ${text.length > ANNOUNCED ? `${text.slice(0, ANNOUNCED)}…` : text}`,
  announceQuestion: (text: string) => `Earshot asks: ${text}`,
  announceApproval: (title: string) => `Approval needed: ${title}`,
};
