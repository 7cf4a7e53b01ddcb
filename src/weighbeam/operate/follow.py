"""Follow the metagraph: who may ask changes with it."""

from weighbeam.chain.contract import Chain, ChainFault
from weighbeam.engine.alerts import tell_fault
from weighbeam.engine.clock import Clock
from weighbeam.network.policy import Policy, Standing

REFRESH_SECONDS = 300.0
RETRY_SECONDS = 10.0


async def keep_policy(chain: Chain, clock: Clock, policy: Policy) -> None:
    """Until cancelled."""
    while True:
        fresh = await refresh_policy(chain, policy)
        await clock.sleep(REFRESH_SECONDS if fresh else RETRY_SECONDS)


async def refresh_policy(chain: Chain, policy: Policy) -> bool:
    """Who may ask now; a chain that does not answer leaves what was known, for an hour."""
    try:
        graph = await chain.metagraph()
    except ChainFault as fault:
        tell_fault(fault)
        return False
    policy.update({neuron.hotkey: Standing(neuron.permit, neuron.stake) for neuron in graph.neurons})
    return True
