// How the processes of one command are recognized.

/**
 * An environment variable of a command that its processes inherit. It identifies those that left the group and have
 * another parent. Processes that clear their environment, or whose environment cannot be read, cannot be identified.
 */
export const COMMAND_MARK = 'EARSHOT_COMMAND';
