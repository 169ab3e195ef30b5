// All UI strings of the page, in one place for translation.
import type { FileDiff } from '../protocol/diffView.ts';
import type { HandleView } from '../protocol/handlesView.ts';
import type { Level } from '../protocol/notification.ts';
import type { TodoItem } from '../protocol/todo.ts';
import type { ToolState } from '../protocol/transcript.ts';
import type { HeldReason } from '../protocol/webview.ts';

const MOST_ANNOUNCED = 600;

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
  truncated: 'The answer was cut off.',
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
  scrollToBottom: 'Scroll to bottom',
  loading: 'Loading the conversation…',
  itemFailed: 'This item could not be displayed. Its text is available.',
  itemText: 'Show text',
  pageFailed: 'The chat could not be displayed, and restarting it did not help.',
  pageFailedNext:
    'Your conversation is saved, and a running turn continues. Restart the chat, or open another conversation with Earshot: Open Conversation. For details, run Earshot: Show Log.',
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
      fetch: 'Get output of',
      apply: 'Type into',
      abort: 'Stop',
    } as Readonly<Record<string, string>>,
    await: 'Wait for background commands',
    diagnostics: 'Check problems',
    fetch: 'Fetch',
    todo: 'Update the to-do list',
    symbols: {
      definition: 'Find the definition of',
      references: 'Find references to',
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
      ...(waiting > 0 ? [`${waiting} may be waiting for input`] : []),
      ...(all > running + waiting ? [`${all - running - waiting} ended`] : []),
    ];
    return parts.join(' · ');
  },
  handleStates: {
    running: 'Running',
    waiting: 'May be waiting for input',
    stopped: 'Ended',
    failed: 'Failed',
  } satisfies Record<HandleView['state'], string>,
  notifyOfHandle: (name: string) => `Notify the model of the state of ${name}`,
  showTerminal: (name: string) => `Show ${name} in a terminal`,
  stopHandle: (name: string) => `Stop ${name}`,
  removeHandle: (name: string) => `Remove ${name} from the list`,
  outputOf: (name: string) => `Last output of ${name}`,
  moveToBackground: 'Move to background',
  moveToBackgroundTitle: 'Continue the command in the background and let the agent go on',
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
    too_long: 'Too large to compare here.',
    gone: 'The previous content is no longer stored.',
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
  previewRefused: (reason: string) => `With the current files this call would be refused: ${reason}`,
  previewMore: (files: number) => `${files} more ${files === 1 ? 'file is' : 'files are'} not shown here.`,
  diffEverywhere: 'All occurrences are replaced.',

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
  modifyTitle: 'Edit the call before it runs',
  modifyCancel: 'Back',
  modifyRun: 'Run this',
  modifyCommand: 'Command to run instead',
  modifyArguments: 'Arguments as JSON',
  modifyNotObject: 'This is not a JSON object.',
  approvalBecause: (reason: string) => `Asked because ${reason}`,
  approvalProblem: (problem: string) => `Your change was not accepted: ${problem}`,
  answeredBy: (by: string) =>
    by === 'timeout'
      ? 'Answered automatically: nobody answered in time'
      : `Answered by ${by.replace(/^plugin:/, 'program plugin ')}`,
  rejectReason: 'Reason for rejecting (optional)',
  questionLabel: (text: string) => `Question: ${text}`,
  questionProblem: (problem: string) => `The answer was not accepted: ${problem}`,
  questionSkipped: 'Skipped: no answer was given.',
  questionUnanswered: 'No answer was given.',
  questionElsewhere: 'Waiting for an answer.',
  chooseOne: 'Choose one',
  chooseSeveral: 'Choose any number',
  chosen: 'chosen',
  answer: 'Answer',
  yourAnswer: 'Your answer',
  otherAnswer: 'Other answer',
  skip: 'Skip',
  skipTitle: 'Continue without an answer',
  hiddenCharacters: 'Invisible characters are shown as ⟨U+…⟩.',

  yourMessages: (count: number) => (count === 1 ? 'your message' : `${count} of your messages`),
  notifications: (shown: number, total: number) => {
    const noun = total === 1 ? 'notification' : 'notifications';
    return shown < total ? `${shown} of ${total} ${noun}` : `${total} ${noun}`;
  },
  moreLabels: (count: number) => `+${count}`,
  carriedText: 'Exact text sent to the model',
  tokens: (count: number) => `≈ ${count} ${count === 1 ? 'token' : 'tokens'}`,
  receipts: { carried: 'In the log', accepted: 'Received by the model' },

  changes: 'Changed files',
  filesChanged: (count: number) => (count === 1 ? '1 file changed' : `${count} files changed`),
  changesSpoken: (count: number, added: number, removed: number) =>
    `Earshot changed ${count === 1 ? '1 file' : `${count} files`}: ${added} lines added, ${removed} removed.`,
  countsSpoken: (added: number, removed: number) => `${added} added, ${removed} removed`,
  moreFiles: (count: number) => `and ${count} more. Review shows all of them.`,
  changeKinds: { created: 'new', deleted: 'deleted' },
  changesClash: 'You have changed the same lines since. You can keep these changes, but not undo all of them.',
  changesOverwrote: 'A command overwrote changes made by others. Undo restores them.',
  keep: 'Keep',
  undo: 'Undo',
  review: 'Review',
  keepAllTitle: 'Keep all changes',
  undoAllTitle: 'Undo all changes',
  reviewAllTitle: 'Show all changes in the editor',
  undoDisabledTitle: 'You can undo changes after the turn has ended',
  keepOne: (what: string) => `Keep changes in ${what}`,
  undoOne: (what: string) => `Undo changes in ${what}`,
  showChangesOf: 'Show changes in',
  partOf: (name: string) => `Show changes in ${name}, line`,
  reviewFileTitle: (what: string) => `Show changes in ${what}`,
  partsOf: (count: number, name: string) => `${count} changes in ${name}`,
  partAt: (name: string, line: number) => `${name}, line ${line}`,
  changedMeanwhile: (count: number) => (count === 1 ? '1 file changed meanwhile' : `${count} files changed meanwhile`),
  meanwhileTitle: 'Files changed by other programs while a command of Earshot was running',
  meanwhileNote: 'Changed by other programs while a command was running. Undo does not affect these files.',
  meanwhileSpoken: (count: number) =>
    `Other programs changed ${count === 1 ? '1 file' : `${count} files`} while a command was running.`,
  moreMeanwhile: (count: number) => `and ${count} more`,
  dismiss: 'Dismiss',
  dismissMeanwhileTitle: 'Remove these files from the list without changing them',
  dismissOne: (what: string) => `Remove ${what} from the list`,
  restoreMeanwhile: (what: string) => `Restore ${what} to its state before the command…`,
  restoreTitle: 'Restore files to their state before this turn',

  helloTitle: 'Hello, I am Earshot.',
  hello: 'What would you like to do in this folder?',
  helloNotifications:
    'While I work, I am notified of what happens around me: your edits, failed builds, new errors. Notifications arrive with the next tool result or request, and you can see exactly what I received.',
  tryThis: 'Try one of these',
  suggestions: ['list the files', 'read README.md', 'run npm test'],
  /** Further requests that the built-in Guide understands. */
  guideSuggestions: ['tour', 'fix the problems then run task check'],
  guide: 'Guide',
  versions: (version: string, hostVersion: string) => `Earshot ${version} · VS Code ${hostVersion}`,

  composer: 'Message to Earshot',
  placeholder: 'Ask a question or describe a task',
  placeholderRunning: 'Earshot is working…',
  placeholderClosed: 'Messages cannot be sent right now',
  closedHint: 'Messages cannot be sent right now; see the message at the top. Your text is kept.',
  runningHint: 'Enter queues this message for the next tool result or request. Ctrl+Enter interrupts.',
  awaitsApprovalHint: 'Waiting for your approval. Enter queues this message; it does not approve.',
  returnedHint: 'Your queued message was not delivered. Send it, or delete it.',
  tooLong: 'This text is too long to send.',
  composerButtons: {
    send: { label: 'Send', title: 'Send (Enter)' },
    queue: { label: 'Queue', title: 'Queue for the next tool result or request (Enter)' },
    interrupt: { label: 'Interrupt', title: 'Interrupt the turn and send this message (Ctrl+Enter)' },
    stop: { label: 'Stop', title: 'Stop the turn' },
  },
  queued: 'Queued',
  queuedList: 'Queued messages',
  removeQueued: 'Remove from queue and edit',
  removeQueuedLabel: (text: string) => `Remove from queue: ${text}`,
  attachmentList: 'Attached',
  detach: 'Remove',
  detachLabel: (name: string) => `Remove ${name}`,
  imageType: (name: string) =>
    `${name || 'This image'} cannot be attached. Supported formats are PNG, JPEG, GIF and WebP.`,
  imageTooLarge: (name: string) => `${name || 'This image'} cannot be attached. It is larger than 10 MB.`,
  imageUnreadable: (name: string) => `${name || 'This image'} cannot be read.`,
  approvalChoice: 'What to do with this text',
  rejectWithThis: (calls: number) => (calls === 1 ? 'Reject with this reason' : `Reject all ${calls} with this reason`),
  queueInstead: 'Queue',
  meanwhile: 'You, during the turn',
  deliverNow: 'Deliver now',
  heldBack: {
    not_written: 'Notifications are pending. They go with your first message in this window.',
    stopped: 'Notifications are pending. They go with your next message, because you stopped the last turn.',
    error: 'Notifications are pending. They go with your next message, because the last turn failed.',
    in_a_row: 'Automatic runs are paused after 5 in a row. New notifications go with your next message.',
    aborted_lately: 'A critical notification is pending for up to 30 s, because the model was just interrupted.',
    woken_lately: 'A notification is pending for a moment, because the same kind just started a run.',
    model: 'Notifications are pending. This model does not run without your request.',
  } satisfies Record<HeldReason, string>,
  contextUsed: (share: number) => `${Math.round(share * 100)} %`,
  contextTitle: (share: number, tokens: number, notifications: number) =>
    `${Math.round(share * 100)} % of the context window used; ${tokens.toLocaleString()} tokens in total, ≈ ${notifications.toLocaleString()} of them for notifications.`,
  cost: (cost: number) => cost.toFixed(cost < 1 ? 3 : 2),
  pendingCount: (count: number) => `${count} pending ${count === 1 ? 'notification' : 'notifications'}`,
  model: 'Model',

  announceAnswer: (text: string) =>
    `Earshot answered: ${text.length > MOST_ANNOUNCED ? `${text.slice(0, MOST_ANNOUNCED)}…` : text}`,
  announceQuestion: (text: string) => `Earshot asks: ${text}`,
  announceApproval: (title: string) => `Approval needed: ${title}`,
};
