"""The pages' addresses; every one below an agent starts from the person's own agents."""

from django.urls import path

from agents.views import agents, approvals, blocks, compactions, history, pages, panel, runs

urlpatterns = [
    path("", pages.home, name="home"),
    path("agents/new/", agents.new, name="agent_new"),
    path("agents/new/blocks/", agents.new_block, name="agent_new_block"),
    path("agents/deleted/", agents.deleted, name="agents_deleted"),
    path("agents/<uuid:agent_id>/", pages.chat, name="agent"),
    path("agents/<uuid:agent_id>/settings/", agents.change, name="agent_settings"),
    path("agents/<uuid:agent_id>/delete/", agents.delete, name="agent_delete"),
    path("agents/<uuid:agent_id>/restore/", agents.restore, name="agent_restore"),
    path("agents/<uuid:agent_id>/older/<int:run_id>/", runs.older, name="older_runs"),
    path("agents/<uuid:agent_id>/messages/", runs.send, name="message_send"),
    path(
        "agents/<uuid:agent_id>/approvals/<int:approval_id>/",
        approvals.decide,
        name="approval_decide",
    ),
    path("agents/<uuid:agent_id>/compact/", compactions.compact, name="compact"),
    path(
        "agents/<uuid:agent_id>/compactions/<int:compaction_id>/messages/",
        compactions.messages,
        name="compaction_messages",
    ),
    path(
        "agents/<uuid:agent_id>/compactions/<int:compaction_id>/summary/",
        compactions.summary,
        name="compaction_summary",
    ),
    path("agents/<uuid:agent_id>/stop/", runs.stop, name="run_stop"),
    path("agents/<uuid:agent_id>/reflect/", runs.reflect_now, name="reflect"),
    path("agents/<uuid:agent_id>/runs/<int:run_id>/undo/", runs.undo, name="run_undo"),
    path("agents/<uuid:agent_id>/runs/<int:run_id>/retry/", runs.retry, name="run_retry"),
    path("agents/<uuid:agent_id>/runs/<int:run_id>/queued/", runs.queued, name="run_queued"),
    path("agents/<uuid:agent_id>/blocks/new/", blocks.new, name="block_new"),
    path("agents/<uuid:agent_id>/blocks/<uuid:block_id>/", blocks.edit, name="block_edit"),
    path(
        "agents/<uuid:agent_id>/blocks/<uuid:block_id>/settings/",
        blocks.configure,
        name="block_settings",
    ),
    path(
        "agents/<uuid:agent_id>/blocks/<uuid:block_id>/detach/", blocks.detach, name="block_detach"
    ),
    path(
        "agents/<uuid:agent_id>/blocks/<uuid:block_id>/restore/<int:version>/",
        history.restore,
        name="block_restore",
    ),
    path(
        "agents/<uuid:agent_id>/blocks/<uuid:block_id>/blame/", history.blamed, name="block_blame"
    ),
    path("agents/<uuid:agent_id>/edits/<int:edit_id>/undo/", blocks.undo, name="block_undo"),
    path("agents/<uuid:agent_id>/history/older/", history.older, name="older_edits"),
    path("agents/<uuid:agent_id>/history/newer/", history.newer, name="newer_edits"),
    path("agents/<uuid:agent_id>/panel/<slug:name>/", panel.show, name="panel_tab"),
]
