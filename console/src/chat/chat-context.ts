/** What the rows of a conversation can do; the same object for as long as the conversation is shown. */
import { createContext, useContext } from 'react';
import type { BlockWire } from '../../../src/activity/wire.js';

export interface ChatActions {
  session: string;
  /** Forks before the turn and sends another message. */
  edit: (turn: number, text: string, kept: readonly BlockWire[]) => Promise<void>;
  /** Regenerates the answer of the turn in a fork. */
  regenerate: (turn: number) => void;
  /** Resumes the interrupted turn. */
  resume: () => void;
  /** Tries again what failed. */
  retry: () => void;
  /** Sends a message that asks the agent to continue. */
  goOn: () => void;
}

const NOTHING: ChatActions = {
  session: '',
  edit: async () => {},
  regenerate: () => {},
  resume: () => {},
  retry: () => {},
  goOn: () => {},
};

export const ChatActionsContext = createContext<ChatActions>(NOTHING);
/** Whether something can be sent now: buttons that send are off while it cannot. */
export const CanSendContext = createContext(true);

export const useChatActions = (): ChatActions => useContext(ChatActionsContext);
export const useCanSend = (): boolean => useContext(CanSendContext);
