"""Which version an edit restored, and the indexes that the history of blocks is read with."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("agents", "0003_tool"),
    ]

    operations = [
        migrations.AddField(
            model_name="blockedit",
            name="restores",
            field=models.PositiveIntegerField(
                blank=True,
                help_text="The version whose value this edit brought back.",
                null=True,
            ),
        ),
        migrations.AlterField(
            model_name="blockedit",
            name="block",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="edits",
                to="agents.block",
            ),
        ),
        migrations.AddIndex(
            model_name="blockedit",
            index=models.Index(fields=["block", "id"], name="edits_of_block"),
        ),
        migrations.AddIndex(
            model_name="blockedit",
            index=models.Index(
                condition=models.Q(("undoes__isnull", False)),
                fields=["block", "id", "undoes"],
                name="undos_of_block",
            ),
        ),
    ]
